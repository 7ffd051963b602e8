// Rounds rows of keys and values to the format of a cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "qkv/tensor.h"

namespace qkv::kv_detail {

/// f64, f32, f16, bf16 and i8.
[[nodiscard]] bool can_cache(DType dtype) noexcept;

/// The place of the first element, in row-major order, that is NaN or infinite, e.g. "inf at [0, 1, 2, 3]".
[[nodiscard]] std::optional<std::string> find_unbounded(const TensorView& x);

/// A vector of a floating dtype.
struct Vector {
  const std::byte* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t size = 0;
  std::int64_t stride = 1;
};

/// Rounds to an element type that is not i8.
void round_row(const Vector& vector, DType dtype, std::byte* row);
/// Rounds to integers, and returns their scale. The elements are finite.
[[nodiscard]] float round_row_to_i8(const Vector& vector, std::int8_t* row);

}  // namespace qkv::kv_detail
