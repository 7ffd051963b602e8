// Checks of the arguments of layers.
#pragma once

#include <cstdint>
#include <string_view>

#include "qkv/tensor.h"

namespace qkv::nn {

/// Each throws InvalidArgument(function, argument, …) unless the condition holds.
void require_floating(std::string_view function, std::string_view argument, DType dtype);
void require_integers(std::string_view function, std::string_view argument, DType dtype);
void require_positive(std::string_view function, std::string_view argument, std::int64_t value);
void require_positive(std::string_view function, std::string_view argument, double value);
void require_shape(std::string_view function, std::string_view argument, const Shape& expected, const Shape& got);
/// Rank 1 or more and the last extent `width`.
void require_width(std::string_view function, std::string_view argument, std::int64_t width, const Shape& got);
/// A floating [T, width] or [B, T, width].
void require_sequence(std::string_view function, std::string_view argument, std::int64_t width, const TensorView& got);
/// A floating table of rows: rank 2 with both extents positive.
void require_table(std::string_view function, std::string_view argument, const Shape& shape, DType dtype);

}  // namespace qkv::nn
