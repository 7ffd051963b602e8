// Rotary scaling as GGUF files say it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "files/gguf_keys.h"

namespace qkv::families {

/// rope_parameters of config.json: base and scaling of the metadata, or the factors of LongRoPE in rope_factors_long
/// and rope_factors_short, or Llama 3's scaling, of which a file has the factors of the frequencies alone, in the
/// tensor rope_freqs.weight. `width`: how many numbers of a head turn. Throws Error naming the key, or the tensor if
/// its factors are no such scaling.
[[nodiscard]] nlohmann::json gguf_rope(const files::GgufKeys& keys, std::int64_t width, double usual_base);

}  // namespace qkv::families
