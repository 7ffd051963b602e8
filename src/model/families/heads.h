// What the weights of a folder say of a model's head and tables, where its config says something else or nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/families/config_file.h"
#include "model/families/stored_weights.h"
#include "qkv/model/model.h"

namespace qkv::families {

/// A network as its weights are stored.
struct FittedNetwork {
  Model::Network network;
  std::string_view stack = {};                  // of the family, if it is one of two: "encoder."
  std::vector<std::string_view> left_out = {};  // patterns of tensors that it does not read
  std::vector<std::string> cautions = {};
  std::string hint = {};  // why a tensor that is not there was expected
};

/// The network of a config, of undrawn parameters, changed to what is stored: without an output map if there is none
/// and the architecture has none, with one of its own where that differs from the table to which the config ties it, an
/// encoder alone if the decoder is not there. As `transformers` 5 opens such folders; each difference is a caution.
[[nodiscard]] FittedNetwork fitted_to(StoredWeights& stored, const ConfigFile& config, const Model::Network& network,
                                      DType dtype);

}  // namespace qkv::families
