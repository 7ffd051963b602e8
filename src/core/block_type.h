// Types of quantised weights: short numbers in blocks that share their scales, with the names and layouts of GGML.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace qkv::core {

/// A row of a weight is a whole number of blocks, one after the other. Scales are f16, little-endian, but of MXFP4, and
/// have no alignment.
enum class BlockType : std::uint8_t {
  q4_0,    // d * (q - 8), q of 4 bits
  q4_1,    // d * q + m
  q5_0,    // d * (q - 16), q of 5 bits
  q5_1,    // d * q + m
  q8_0,    // d * q, q of 8 bits with a sign
  q2_k,    // blocks of 256: 16 groups of 16, each with a scale and a minimum of 4 bits
  q3_k,    // 16 groups of 16, each with a scale of 6 bits
  q4_k,    // 8 groups of 32, each with a scale and a minimum of 6 bits
  q5_k,    // likewise
  q6_k,    // 16 groups of 16, each with a scale of 8 bits
  iq4_nl,  // d * values[q], of a fixed list of 16
  iq4_xs,  // blocks of 256: 8 groups of 32, each with a scale of 6 bits, of the same list
  mxfp4,   // floats of 4 bits times a power of two: OCP Microscaling Formats 1.0, section 5.3.3; gpt-oss
};
inline constexpr std::size_t kBlockTypes = 13;

/// The numbers that IQ4_NL and IQ4_XS mean by 0 to 15.
inline constexpr std::array<std::int8_t, 16> kUneven = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                        1,    13,   25,  38,  53,  69,  89,  113};
/// Twice the floats of 4 bits that MXFP4 has: a sign, two bits of exponent and one of mantissa.
inline constexpr std::array<std::int8_t, 16> kTwiceFloats = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

struct BlockLayout {
  std::string_view name;  // "Q4_K"
  std::int64_t numbers;   // of a block
  std::int64_t bytes;     // likewise
};
[[nodiscard]] const BlockLayout& layout_of(BlockType type) noexcept;

/// Half of the power of two that a scale of MXFP4 stands for, as GGML has it: its list of numbers is doubled.
[[nodiscard]] constexpr float half_of_power(std::uint8_t scale) noexcept {
  constexpr std::uint32_t kLeast = 0x00200000;  // 2^-128, which is subnormal
  return std::bit_cast<float>(scale < 2 ? kLeast << scale : (std::uint32_t{scale} - 1U) << 23U);
}

/// The numbers of whole blocks, as the reference of GGML computes them, bit for bit. `out` has numbers / bytes of the
/// layout times the size of `blocks`. Allocates nothing.
void dequantise(BlockType type, std::span<const std::byte> blocks, std::span<float> out) noexcept;

}  // namespace qkv::core
