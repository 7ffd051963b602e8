// Element types. Attention stores f64, f32, f16 or bf16; caches of keys and values also i8; files and masks also bring
// other integers and booleans.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace qkv {

enum class DType : std::uint8_t { f64, f32, f16, bf16, i64, i32, i8, u8, b8 };

/// Bytes of one element.
[[nodiscard]] std::size_t size_of(DType dtype) noexcept;

/// "f64", "f32", "f16", "bf16", "i64", "i32", "i8", "u8" or "b8" (one byte, 0 or 1).
[[nodiscard]] std::string_view name_of(DType dtype) noexcept;

/// True for f64, f32, f16 and bf16.
[[nodiscard]] bool is_floating(DType dtype) noexcept;

/// IEEE 754 binary16. Conversion from float rounds to nearest, ties to even; overflow gives infinity; a NaN keeps the
/// upper bits of its payload and becomes quiet, as the processors' own instruction has it.
struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) noexcept;
  explicit operator float() const noexcept;
  [[nodiscard]] static Half from_bits(std::uint16_t bits) noexcept;
};

/// The upper half of an IEEE 754 binary32. Conversion from float rounds to nearest, ties to even; NaN as Half.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) noexcept;
  explicit operator float() const noexcept;
  [[nodiscard]] static BFloat16 from_bits(std::uint16_t bits) noexcept;
};

template <class T>
struct dtype_of;  // defined for the nine C++ types below only
template <>
struct dtype_of<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct dtype_of<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct dtype_of<Half> {
  static constexpr DType value = DType::f16;
};
template <>
struct dtype_of<BFloat16> {
  static constexpr DType value = DType::bf16;
};
template <>
struct dtype_of<std::int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct dtype_of<std::int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct dtype_of<std::int8_t> {
  static constexpr DType value = DType::i8;
};
template <>
struct dtype_of<std::uint8_t> {
  static constexpr DType value = DType::u8;
};
template <>
struct dtype_of<bool> {
  static constexpr DType value = DType::b8;
};
template <class T>
inline constexpr DType dtype_of_v = dtype_of<T>::value;

}  // namespace qkv
