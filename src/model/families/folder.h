// Folders as others publish models in.
#pragma once

#include <string>

#include "qkv/model/model.h"

namespace qkv::families {

/// The model of config.json and its weights, which are mapped and stay in the dtype in which they are stored. Throws
/// Error naming the file, and every tensor that is missing, surplus or misshapen.
[[nodiscard]] Model open_folder(const std::string& folder);

}  // namespace qkv::families
