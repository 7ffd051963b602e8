// A model's options as the metadata of a GGUF file: the counterpart of gguf_family.h's words.
#pragma once

#include <string_view>
#include <vector>

#include "files/later_tensor.h"
#include "qkv/model/model.h"

namespace qkv::saving {

/// What the network's options say, and tensors that stand for some of them. What an architecture has no word for is
/// left out: whoever reads the file finds other options then.
struct GgufWords {
  GgufMetadata words;
  std::vector<files::LaterTensor> tensors;
};
[[nodiscard]] GgufWords gguf_words(std::string_view architecture, const Model::Network& network);

}  // namespace qkv::saving
