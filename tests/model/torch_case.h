// A model held against what PyTorch made of the same numbers (tests/model/fixtures/torch_transformer.py).
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "qkv/nn/parameters.h"

namespace qkv::tests {

/// The cases of tests/model/fixtures/<name>.
[[nodiscard]] nlohmann::json torch_cases(const std::string& name);

[[nodiscard]] std::map<std::string, std::string> config_in(const nlohmann::json& one);
/// Whole numbers of a list of rows, i64 [B, T].
[[nodiscard]] Tensor ids_in(const nlohmann::json& rows);

/// A model in a case's hands: what it learns, and its loss on the case's inputs.
struct TorchModel {
  Parameters parameters;
  std::function<Variable()> loss;
};

/// Gives each parameter, in f64, the number that the script gives to its name and place. Expects the loss and each
/// gradient, and losses, norms and parameters of ten steps of AdamW with clipping, warm-up and cosine, as `one` has
/// them.
void expect_as_torch(const nlohmann::json& one, const TorchModel& model);

/// Expects gradients in f32 that are at most twice as far from those in f64 as PyTorch's are: over all parameters
/// together, and as the root mean square of eight runs, each from numbers of its own.
void expect_as_near_as_torch(const nlohmann::json& one, const std::function<TorchModel(DType)>& made);

}  // namespace qkv::tests
