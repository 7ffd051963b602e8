// Folders as others publish models in.
#pragma once

#include <cstdint>
#include <string>

#include "qkv/model/model.h"

namespace qkv::families {

/// The model of config.json and its weights, which are mapped and stay in the dtype in which they are stored; blocks of
/// MXFP4 become bf16, which holds their numbers, unless they are to stay as stored. Throws
/// Error naming the file, and every tensor that is missing, surplus or misshapen.
[[nodiscard]] Model open_folder(const std::string& folder, QuantisedWeights quantised);

/// The rows of a network's table of tokens.
[[nodiscard]] std::int64_t vocabulary_of(const Model::Network& network);

}  // namespace qkv::families
