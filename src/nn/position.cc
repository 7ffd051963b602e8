#include "qkv/nn/position.h"

#include <fmt/format.h>

#include <utility>

#include "core/exact_math.h"
#include "nn/elementwise.h"
#include "nn/require.h"
#include "qkv/nn/embedding.h"

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

LearnedPositions::LearnedPositions(std::int64_t length, std::int64_t d_model, Generator& generator, DType dtype) {
  nn::require_positive("LearnedPositions", "length", length);
  nn::require_positive("LearnedPositions", "d_model", d_model);
  nn::require_floating("LearnedPositions", "dtype", dtype);
  constexpr double kStandardDeviation = 0.02;
  const Tensor drawn = generator.randn({length, d_model}, dtype == DType::f64 ? DType::f64 : DType::f32);
  table_ = nn::map(drawn, [](double value) { return kStandardDeviation * value; }).to(dtype);
}

LearnedPositions::LearnedPositions(Tensor table) : table_(std::move(table)) {
  nn::require_table("LearnedPositions", "table", table_);
}

Tensor LearnedPositions::forward(std::int64_t T) const {
  if (T < 0 || T > length()) {
    throw InvalidArgument("LearnedPositions", "T", fmt::format("0 to {} (the table's length)", length()),
                          fmt::format("{}", T));
  }
  return Tensor(table_.view().slice(0, 0, T));
}

Tensor LearnedPositions::forward(const TensorView& positions) const {
  return gather_rows(table_, positions, "LearnedPositions", "positions");
}

}  // namespace qkv
