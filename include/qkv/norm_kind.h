// The norms of transformers.
#pragma once

#include <cstdint>

namespace qkv {

enum class NormKind : std::uint8_t {
  layer,               // a gain and a shift: 2 d_model parameters
  rms,                 // a gain: d_model parameters
  rms_plus_one,        // likewise, the gain being 1 + the parameter: Gemma
  layer_without_bias,  // layer with a gain alone: MPT, Cohere
};

/// Whether it takes the mean off, as LayerNorms do and RMSNorms do not.
[[nodiscard]] constexpr bool is_centred(NormKind kind) noexcept {
  return kind == NormKind::layer || kind == NormKind::layer_without_bias;
}

}  // namespace qkv
