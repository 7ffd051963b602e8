// The norms of transformers.
#pragma once

#include <cstdint>

namespace qkv {

enum class NormKind : std::uint8_t {
  layer,         // a gain and a shift: 2 d_model parameters
  rms,           // a gain: d_model parameters
  rms_plus_one,  // likewise, the gain being 1 + the parameter: Gemma
};

}  // namespace qkv
