// Which attention of a model, and where a trace has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace qkv {

/// Which attention of a model.
enum class AttentionSite : std::uint8_t {
  tokens,  // self-attention over the tokens
  source,  // self-attention of the encoder over the source, or over the patches
  cross,   // from the tokens to the source, or to the patches of the image
};
[[nodiscard]] std::string_view name_of(AttentionSite site) noexcept;

/// Where a trace has one kind of attention: "<stack>blocks.<n>.<part>" and what stands below it.
struct SiteScope {
  std::string stack;        // "", "decoder."
  std::string part;         // "attn" or "cross"
  std::int64_t layers = 0;  // n from 0

  /// "decoder.blocks.1.cross.weights"; without a leaf "decoder.blocks.1.cross".
  [[nodiscard]] std::string name(std::size_t layer, std::string_view leaf = {}) const;
};

}  // namespace qkv
