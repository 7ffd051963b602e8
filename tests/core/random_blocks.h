// Weights of any bytes, but scales of a size that is chosen.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "core/block_type.h"
#include "qkv/dtype.h"
#include "qkv/quantised_tensor.h"

namespace qkv::tests {

inline std::vector<core::BlockType> block_types() {
  std::vector<core::BlockType> all;
  for (std::size_t n = 0; n < core::kBlockTypes; ++n) all.push_back(static_cast<core::BlockType>(n));
  return all;
}

// The places of the f16 scales in a block.
inline std::vector<std::size_t> places_of_scales(core::BlockType type) {
  using core::BlockType;
  switch (type) {
    case BlockType::q4_1:
    case BlockType::q5_1:
    case BlockType::q4_k:
    case BlockType::q5_k:
      return {0, 2};
    case BlockType::q2_k:
      return {80, 82};
    case BlockType::q3_k:
      return {108};
    case BlockType::q6_k:
      return {208};
    default:
      return {0};
  }
}

/// [N, K] with scales, and minima, from a normal distribution of this deviation.
inline std::vector<std::byte> random_blocks(core::BlockType type, std::int64_t N, std::int64_t K, float deviation = 1) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(N * 1000 + K));
  const core::BlockLayout& layout = core::layout_of(type);
  const auto size = static_cast<std::size_t>(layout.bytes);
  std::vector<std::byte> bytes(static_cast<std::size_t>(N * K / layout.numbers) * size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(engine());
  std::normal_distribution<float> draw;
  for (std::size_t block = 0; block < bytes.size(); block += size) {
    if (type == core::BlockType::mxfp4) {
      constexpr float kOne = 127;  // the scale of 1
      bytes[block] = static_cast<std::byte>(kOne + std::round(std::log2(deviation * (0.1F + std::fabs(draw(engine))))));
      continue;
    }
    for (const std::size_t place : places_of_scales(type)) {
      const Half scale(deviation * draw(engine));
      std::memcpy(bytes.data() + block + place, &scale.bits, sizeof(scale.bits));
    }
  }
  return bytes;
}

inline QuantisedTensor random_weight(core::BlockType type, std::int64_t N, std::int64_t K, float deviation = 1) {
  const auto bytes = std::make_shared<std::vector<std::byte>>(random_blocks(type, N, K, deviation));
  return {type, {N, K}, *bytes, bytes};
}

}  // namespace qkv::tests
