// Architectures of GGUF files: their metadata in the words of config.json, and their tensors.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "files/gguf_keys.h"
#include "model/families/family.h"

namespace qkv::families {

/// What a converter changed in the weights, undone when they are read.
enum class GgufChange : std::uint8_t {
  none,
  interleaved_heads,  // rows of q and k in the order of neighbouring pairs, where `transformers` turns halves
  norms_plus_one,     // 1 added to the weights of norms
};

struct GgufFamily {
  std::string_view architecture;  // general.architecture
  std::string_view model_type;    // of the family whose config it has
  /// The words of config.json, but for model_type and vocab_size, which every architecture has alike.
  nlohmann::json (*config)(const files::GgufKeys& keys);
  std::span<const WeightName> names;
  std::string_view class_name;  // that `transformers` opens a folder of it with
  GgufChange change = GgufChange::none;
  /// Tensors that llama.cpp has no model without, or none with, though the family may.
  std::span<const std::string_view> needed = {};
  std::span<const std::string_view> unknown = {};
  std::string_view also = {};  // another model_type that is written as it
  bool has_experts = false;    // of files with an expert_count; another may have the same name
};

/// The architectures of each file.
[[nodiscard]] std::span<const GgufFamily> gguf_decoders();
[[nodiscard]] std::span<const GgufFamily> gguf_encoders();
[[nodiscard]] std::span<const GgufFamily> gguf_gpts();
[[nodiscard]] std::span<const GgufFamily> gguf_mixtures();

/// That of general.architecture. Throws Error naming the architecture and those that there are.
[[nodiscard]] const GgufFamily& gguf_family_of(const files::GgufKeys& keys);

/// That which models of a model_type are written as. Throws Error naming `source`, the model_type and those that there
/// are.
[[nodiscard]] const GgufFamily& gguf_family_for(const std::string& model_type, const std::string& source);

/// "llama.block_count"
[[nodiscard]] std::string key_of(const files::GgufKeys& keys, std::string_view name);

}  // namespace qkv::families
