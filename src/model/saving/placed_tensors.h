// Parameters as the tensors of a file: their names there, and what is changed on the way.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/families/family.h"
#include "model/families/gguf_family.h"
#include "qkv/nn/parameters.h"

namespace qkv::saving {

/// The value of a parameter, made when it is asked for.
using ValueOf = std::function<Tensor(const Parameter& parameter)>;
/// That of a parameter which is there.
[[nodiscard]] Tensor own_value(const Parameter& parameter);

struct PlacedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<Parameter> parts;  // those that it is made from: q, k and v of GPT-2 are one tensor
  std::function<Tensor()> values;
};

/// Where a GGUF file of this family has them; what it has no name for is told to `left_out`.
[[nodiscard]] std::vector<PlacedTensor> placed_in_gguf(const families::GgufFamily& family, const Model& model,
                                                       const ValueOf& value, std::vector<std::string>& left_out);

/// Where a folder of this family has them: a model with its head, as `transformers` writes one.
[[nodiscard]] std::vector<PlacedTensor> placed_in_folder(const families::Family& family, const Model& model,
                                                         const ValueOf& value);

}  // namespace qkv::saving
