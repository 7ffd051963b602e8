// Models as llama.cpp keeps them.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "qkv/gguf.h"
#include "qkv/model/embed.h"
#include "qkv/model/model.h"

namespace qkv::families {

/// Whether the file at a path begins as one of GGUF; false for what cannot be read.
[[nodiscard]] bool is_gguf(const std::string& path);
/// The same of bytes that are here.
[[nodiscard]] bool is_gguf(std::span<const std::byte> bytes);

/// The model of a GGUF file of the architectures in gguf_family.h, with the config and the tokenizer that the folder
/// has from which it was made. Weights in plain numbers stay mapped, and those in blocks where `quantised` says so,
/// but for maps of q and k whose rows a converter has put in another order: these are copied. Throws Error naming the
/// file and the key or the tensor.
[[nodiscard]] Model model_of_gguf(Gguf file, QuantisedWeights quantised = QuantisedWeights::as_f32);

/// What pooling_type numbers, from 1 on; 0 is none.
inline constexpr std::array kGgufPoolings = {Pooling::mean, Pooling::first, Pooling::last};

/// How the authors of the file make a vector of a text: its pooling_type, and texts of context_length tokens at most.
/// The defaults where it does not say so. Throws Error naming the key.
[[nodiscard]] EmbedOptions gguf_embed_options(const std::string& path);

/// What becomes of a file without its weights being read.
struct GgufOutlook {
  std::string
      refusal;  // why model_of_gguf() would throw, without the file's name; empty where nothing is known against it
  bool writes = false;  // a model that writes texts
};
[[nodiscard]] GgufOutlook outlook_of_gguf(const Gguf& file);

}  // namespace qkv::families
