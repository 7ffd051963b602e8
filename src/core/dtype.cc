#include "qkv/dtype.h"

#include <array>
#include <cmath>

namespace qkv {
namespace {

struct Row {
  std::string_view name;
  std::size_t size;
  bool floating;
};

constexpr std::array<Row, 9> kRows = {{{"f64", 8, true},
                                       {"f32", 4, true},
                                       {"f16", 2, true},
                                       {"bf16", 2, true},
                                       {"i64", 8, false},
                                       {"i32", 4, false},
                                       {"i8", 1, false},
                                       {"u8", 1, false},
                                       {"b8", 1, false}}};

const Row& row(DType dtype) noexcept { return kRows[static_cast<std::size_t>(dtype)]; }

// Subnormal halves are multiples of 2^-24, so rounding there is rounding of value·2^24 to an integer.
std::uint16_t subnormal_half(float magnitude) noexcept {
  return static_cast<std::uint16_t>(std::nearbyint(magnitude * 0x1p24F));
}

std::uint16_t half_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return sign | static_cast<std::uint16_t>(0x7E00U | ((magnitude >> 13U) & 0x3FFU));
  if (magnitude >= 0x477FF000U) return sign | 0x7C00U;  // 65520 and beyond rounds to infinity
  if (magnitude < 0x38800000U) return sign | subnormal_half(std::bit_cast<float>(magnitude));
  const std::uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13U) & 1U);
  return sign | static_cast<std::uint16_t>((rounded - 0x38000000U) >> 13U);
}

float half_value(std::uint16_t half) noexcept {
  const std::uint32_t sign = (half & 0x8000U) << 16U;
  const std::uint32_t exponent = (half >> 10U) & 0x1FU;
  const std::uint32_t mantissa = half & 0x3FFU;
  if (exponent == 0x1FU) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13U));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (mantissa << 13U));
}

std::uint16_t bfloat16_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

}  // namespace

std::size_t size_of(DType dtype) noexcept { return row(dtype).size; }
std::string_view name_of(DType dtype) noexcept { return row(dtype).name; }
bool is_floating(DType dtype) noexcept { return row(dtype).floating; }

Half::Half(float value) noexcept : bits(half_bits(value)) {}
Half::operator float() const noexcept { return half_value(bits); }
Half Half::from_bits(std::uint16_t bits) noexcept {
  Half half;
  half.bits = bits;
  return half;
}

BFloat16::BFloat16(float value) noexcept : bits(bfloat16_bits(value)) {}
BFloat16::operator float() const noexcept { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U); }
BFloat16 BFloat16::from_bits(std::uint16_t bits) noexcept {
  BFloat16 bfloat;
  bfloat.bits = bits;
  return bfloat;
}

}  // namespace qkv
