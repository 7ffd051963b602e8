#include "qkv/nn/position.h"

#include <fmt/format.h>

#include "core/exact_math.h"
#include "nn/require.h"

namespace qkv {

Tensor sinusoidal(std::int64_t T, std::int64_t d_model, double base, DType dtype) {
  if (T < 0) throw InvalidArgument("sinusoidal", "T", "0 or more", fmt::format("{}", T));
  nn::require_positive("sinusoidal", "d_model", d_model);
  nn::require_positive("sinusoidal", "base", base);
  nn::require_floating("sinusoidal", "dtype", dtype);
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(T * d_model));
  for (std::int64_t t = 0; t < T; ++t) {
    for (std::int64_t column = 0; column < d_model; ++column) {
      const bool is_sine = column % 2 == 0;
      const std::int64_t even = is_sine ? column : column - 1;
      const double exponent = static_cast<double>(even) / static_cast<double>(d_model);
      const double angle = static_cast<double>(t) / core::pow(base, exponent);
      values.push_back(is_sine ? core::sin(angle) : core::cos(angle));
    }
  }
  return Tensor(values, {T, d_model}).to(dtype);
}

}  // namespace qkv
