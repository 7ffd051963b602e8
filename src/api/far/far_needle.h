// A long text that is made up, with a few needles in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/api/far.h"
#include "qkv/tensor.h"

namespace qkv::api_detail {

struct PlantedText {
  Tensor q;  // f32 [1, 1, T, 64]
  Tensor k;
  std::vector<std::string> words;    // that occur
  std::vector<std::uint8_t> tokens;  // [T], which of them
  std::vector<FarNeedle> needles;
};

/// Numbers of mean 0 and variance 1 from `seed`, the same everywhere. Tokens of one of its 16 chapters resemble each
/// other a little; the query of a needle is along its key, at a length that gives it about 0.4 of the weight under a
/// causal mask. 131,072 tokens take 64 MiB.
[[nodiscard]] PlantedText planted_text(std::int64_t tokens, std::uint64_t seed);

}  // namespace qkv::api_detail
