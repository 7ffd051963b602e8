// A model of a GGUF file whose parameters are read one at a time.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "model/families/gguf_family.h"
#include "qkv/gguf.h"
#include "qkv/model/model.h"
#include "qkv/nn/parameters.h"

namespace qkv::families {

struct LaterGgufModel {
  Model model;       // of undrawn parameters
  const Gguf* file;  // as long as there is `value`
  const GgufFamily* family;
  nlohmann::json config;  // in the words of a config.json, but for what GGUF does not say
  /// Reads the value of one of its parameters, in f32 where it is quantised. Throws Error naming the tensor.
  std::function<Tensor(const Parameter& parameter)> value;
};

/// Throws Error as model_of_gguf(), but for tensors, which are looked up when they are asked for.
[[nodiscard]] LaterGgufModel later_model_of_gguf(Gguf file);

}  // namespace qkv::families
