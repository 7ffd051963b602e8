#include "core/block_type.h"

#include <array>
#include <bit>

#include "qkv/dtype.h"

namespace qkv::core {
namespace {

constexpr std::int64_t kSmall = 32;
constexpr std::int64_t kLarge = 256;

// In the order of BlockType.
constexpr std::array<BlockLayout, kBlockTypes> kLayouts = {{{"Q4_0", kSmall, 18},
                                                            {"Q4_1", kSmall, 20},
                                                            {"Q5_0", kSmall, 22},
                                                            {"Q5_1", kSmall, 24},
                                                            {"Q8_0", kSmall, 34},
                                                            {"Q2_K", kLarge, 84},
                                                            {"Q3_K", kLarge, 110},
                                                            {"Q4_K", kLarge, 144},
                                                            {"Q5_K", kLarge, 176},
                                                            {"Q6_K", kLarge, 210},
                                                            {"IQ4_NL", kSmall, 18},
                                                            {"IQ4_XS", kLarge, 136},
                                                            {"MXFP4", kSmall, 17}}};

// The bytes of a block.
using Bytes = const std::uint8_t*;

std::uint32_t short_at(Bytes at) { return std::uint32_t{at[0]} | std::uint32_t{at[1]} << 8U; }

std::uint32_t word_at(Bytes at) { return short_at(at) | short_at(at + 2) << 16U; }

float half_at(Bytes at) { return static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(short_at(at)))); }

float signed_at(Bytes at) { return static_cast<float>(static_cast<std::int8_t>(*at)); }

float number(std::uint32_t q) { return static_cast<float>(q); }

// Of 32 numbers the low four bits of 16 bytes come first, and the high ones behind them.
std::uint32_t nibble(Bytes bytes, std::uint32_t n) {
  return n < 16 ? std::uint32_t{bytes[n]} & 15U : std::uint32_t{bytes[n - 16]} >> 4U;
}

void read_q4_0(Bytes block, float* out) {
  const float d = half_at(block);
  for (std::uint32_t n = 0; n < kSmall; ++n) out[n] = d * (number(nibble(block + 2, n)) - 8);
}

void read_q4_1(Bytes block, float* out) {
  const float d = half_at(block);
  const float m = half_at(block + 2);
  for (std::uint32_t n = 0; n < kSmall; ++n) out[n] = d * number(nibble(block + 4, n)) + m;
}

void read_q5_0(Bytes block, float* out) {
  const float d = half_at(block);
  const std::uint32_t fifth = word_at(block + 2);
  for (std::uint32_t n = 0; n < kSmall; ++n) {
    out[n] = d * (number(nibble(block + 6, n) | (fifth >> n & 1U) << 4U) - 16);
  }
}

void read_q5_1(Bytes block, float* out) {
  const float d = half_at(block);
  const float m = half_at(block + 2);
  const std::uint32_t fifth = word_at(block + 4);
  for (std::uint32_t n = 0; n < kSmall; ++n) {
    out[n] = d * number(nibble(block + 8, n) | (fifth >> n & 1U) << 4U) + m;
  }
}

void read_q8_0(Bytes block, float* out) {
  const float d = half_at(block);
  for (std::uint32_t n = 0; n < kSmall; ++n) out[n] = d * signed_at(block + 2 + n);
}

void read_iq4_nl(Bytes block, float* out) {
  const float d = half_at(block);
  for (std::uint32_t n = 0; n < kSmall; ++n) out[n] = d * static_cast<float>(kUneven[nibble(block + 2, n)]);
}

void read_mxfp4(Bytes block, float* out) {
  const float d = half_of_power(*block);
  for (std::uint32_t n = 0; n < kSmall; ++n) out[n] = d * static_cast<float>(kTwiceFloats[nibble(block + 1, n)]);
}

// Two bits of each of 256 numbers: 32 bytes hold four runs of 32, the first in their lowest bits.
std::uint32_t pair_of_bits(Bytes bytes, std::uint32_t n) {
  return std::uint32_t{bytes[n / 128 * 32 + n % 32]} >> n % 128 / 32 * 2 & 3U;
}

void read_q2_k(Bytes block, float* out) {
  const Bytes quants = block + 16;
  const float d = half_at(block + 80);
  const float m = half_at(block + 82);
  for (std::uint32_t group = 0; group < 16; ++group) {
    const float scale = d * number(block[group] & 15U);
    const float least = m * number(std::uint32_t{block[group]} >> 4U);
    for (std::uint32_t n = group * 16; n < group * 16 + 16; ++n) {
      out[n] = scale * number(pair_of_bits(quants, n)) - least;
    }
  }
}

void read_q3_k(Bytes block, float* out) {
  const Bytes third = block;  // bit n / 32 of byte n % 32; where it is not set, 4 is taken off
  const Bytes quants = block + 32;
  const Bytes scales = block + 96;
  const float d = half_at(block + 108);
  for (std::uint32_t group = 0; group < 16; ++group) {
    const std::uint32_t low = std::uint32_t{scales[group % 8]} >> group / 8 * 4 & 15U;
    const std::uint32_t high = std::uint32_t{scales[8 + group % 4]} >> group / 4 * 2 & 3U;
    const float scale = d * (number(low | high << 4U) - 32);
    for (std::uint32_t n = group * 16; n < group * 16 + 16; ++n) {
      const float less = (std::uint32_t{third[n % 32]} >> n / 32 & 1U) != 0 ? 0.0F : 4.0F;
      out[n] = scale * (number(pair_of_bits(quants, n)) - less);
    }
  }
}

struct ScaleAndLeast {
  std::uint32_t scale;
  std::uint32_t least;
};

// Eight of both in 12 bytes: the first four in six bits, of the others four bits behind them and two above the first.
ScaleAndLeast packed_scale(Bytes scales, std::uint32_t group) {
  if (group < 4) return {scales[group] & 63U, scales[group + 4] & 63U};
  const std::uint32_t low = scales[group + 4];
  return {(low & 15U) | std::uint32_t{scales[group - 4]} >> 6U << 4U,
          low >> 4U | std::uint32_t{scales[group]} >> 6U << 4U};
}

// Four bits of each of 256 numbers: 32 bytes hold two groups of 32.
std::uint32_t half_byte(Bytes bytes, std::uint32_t group, std::uint32_t n) {
  return std::uint32_t{bytes[group / 2 * 32 + n]} >> group % 2 * 4 & 15U;
}

void read_q4_k(Bytes block, float* out) {
  const float d = half_at(block);
  const float m = half_at(block + 2);
  for (std::uint32_t group = 0; group < 8; ++group) {
    const ScaleAndLeast packed = packed_scale(block + 4, group);
    const float scale = d * number(packed.scale);
    const float least = m * number(packed.least);
    for (std::uint32_t n = 0; n < kSmall; ++n) {
      out[group * 32 + n] = scale * number(half_byte(block + 16, group, n)) - least;
    }
  }
}

void read_q5_k(Bytes block, float* out) {
  const float d = half_at(block);
  const float m = half_at(block + 2);
  const Bytes fifth = block + 16;
  for (std::uint32_t group = 0; group < 8; ++group) {
    const ScaleAndLeast packed = packed_scale(block + 4, group);
    const float scale = d * number(packed.scale);
    const float least = m * number(packed.least);
    for (std::uint32_t n = 0; n < kSmall; ++n) {
      const std::uint32_t high = std::uint32_t{fifth[n]} >> group & 1U;
      out[group * 32 + n] = scale * number(half_byte(block + 48, group, n) | high << 4U) - least;
    }
  }
}

void read_q6_k(Bytes block, float* out) {
  const Bytes high = block + 128;
  const Bytes scales = block + 192;
  const float d = half_at(block + 208);
  for (std::uint32_t group = 0; group < 16; ++group) {
    const float scale = d * signed_at(scales + group);
    for (std::uint32_t n = group * 16; n < group * 16 + 16; ++n) {
      const std::uint32_t low = std::uint32_t{block[n / 128 * 64 + n % 64]} >> n % 128 / 64 * 4 & 15U;
      out[n] = scale * (number(low | pair_of_bits(high, n) << 4U) - 32);
    }
  }
}

void read_iq4_xs(Bytes block, float* out) {
  const float d = half_at(block);
  const std::uint32_t high = short_at(block + 2);
  for (std::uint32_t group = 0; group < 8; ++group) {
    const std::uint32_t low = std::uint32_t{block[4 + group / 2]} >> group % 2 * 4 & 15U;
    const float scale = d * (number(low | (high >> group * 2 & 3U) << 4U) - 32);
    const Bytes quants = block + 8 + group * 16;
    for (std::uint32_t n = 0; n < kSmall; ++n) {
      out[group * 32 + n] = scale * static_cast<float>(kUneven[nibble(quants, n)]);
    }
  }
}

// In the order of BlockType.
constexpr std::array<void (*)(Bytes, float*), kBlockTypes> kReaders = {
    read_q4_0, read_q4_1, read_q5_0, read_q5_1,   read_q8_0,   read_q2_k, read_q3_k,
    read_q4_k, read_q5_k, read_q6_k, read_iq4_nl, read_iq4_xs, read_mxfp4};

}  // namespace

const BlockLayout& layout_of(BlockType type) noexcept { return kLayouts[static_cast<std::size_t>(type)]; }

void dequantise(BlockType type, std::span<const std::byte> blocks, std::span<float> out) noexcept {
  const auto read = kReaders[static_cast<std::size_t>(type)];
  const BlockLayout& layout = layout_of(type);
  const auto* bytes = reinterpret_cast<Bytes>(blocks.data());
  const auto count = static_cast<std::int64_t>(blocks.size()) / layout.bytes;
  for (std::int64_t n = 0; n < count; ++n) read(bytes + n * layout.bytes, out.data() + n * layout.numbers);
}

}  // namespace qkv::core
