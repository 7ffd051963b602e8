#include "nn/require.h"

#include <fmt/format.h>

#include <cmath>

namespace qkv::nn {

void require_floating(std::string_view function, std::string_view argument, DType dtype) {
  if (!is_floating(dtype)) throw InvalidArgument(function, argument, "f64, f32, f16 or bf16", name_of(dtype));
}

void require_integers(std::string_view function, std::string_view argument, DType dtype) {
  if (dtype != DType::i64 && dtype != DType::i32) {
    throw InvalidArgument(function, argument, "i64 or i32", name_of(dtype));
  }
}

void require_positive(std::string_view function, std::string_view argument, std::int64_t value) {
  if (value <= 0) throw InvalidArgument(function, argument, "1 or more", fmt::format("{}", value));
}

void require_positive(std::string_view function, std::string_view argument, double value) {
  if (!(value > 0) || !std::isfinite(value)) {
    throw InvalidArgument(function, argument, "a positive number", fmt::format("{}", value));
  }
}

void require_shape(std::string_view function, std::string_view argument, const Shape& expected, const Shape& got) {
  if (!(expected == got)) throw InvalidArgument(function, argument, expected.to_string(), got.to_string());
}

void require_width(std::string_view function, std::string_view argument, std::int64_t width, const Shape& got) {
  if (got.rank() == 0 || got[got.rank() - 1] != width) {
    throw InvalidArgument(function, argument, fmt::format("a last axis of {}", width), got.to_string());
  }
}

void require_sequence(std::string_view function, std::string_view argument, std::int64_t width, const TensorView& got) {
  require_floating(function, argument, got.dtype());
  if ((got.rank() == 2 || got.rank() == 3) && got.dim(-1) == width) return;
  throw InvalidArgument(function, argument, fmt::format("[T, {0}] or [B, T, {0}]", width), got.shape().to_string());
}

void require_table(std::string_view function, std::string_view argument, const Shape& shape, DType dtype) {
  require_floating(function, argument, dtype);
  if (shape.rank() != 2 || shape[0] == 0 || shape[1] == 0) {
    throw InvalidArgument(function, argument, "rank 2 with extents of 1 or more", shape.to_string());
  }
}

}  // namespace qkv::nn
