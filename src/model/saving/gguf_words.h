// A model's options as the metadata of a GGUF file: the counterpart of gguf_family.h's words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "files/later_tensor.h"
#include "qkv/model/model.h"

namespace qkv::saving {

/// An architecture of GGUF that is written, and the model_type of config.json that it is.
struct GgufArchitecture {
  std::string_view name;
  std::string_view model_type;
};

/// That of a model_type. Throws Error naming `source`, the model_type and those that there are.
[[nodiscard]] const GgufArchitecture& gguf_architecture_of(const std::string& model_type, const std::string& source);

/// What the network's options say, and tensors that stand for some of them. What an architecture has no word for is
/// left out: whoever reads the file finds other options then.
struct GgufWords {
  GgufMetadata words;
  std::vector<files::LaterTensor> tensors;
};
[[nodiscard]] GgufWords gguf_words(const GgufArchitecture& architecture, const Model::Network& network);

}  // namespace qkv::saving
