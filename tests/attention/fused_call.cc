#include "attention/fused_call.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/unit_roundoff.h"
namespace qkv::testing_attention {
namespace {

Tensor normal(std::mt19937_64& engine, const Shape& shape, DType dtype) {
  std::normal_distribution<double> draw;
  std::vector<double> values(static_cast<std::size_t>(shape.product()));
  std::ranges::generate(values, [&] { return draw(engine); });
  return Tensor(values, shape).to(dtype);
}

double largest(const TensorView& x) {
  double result = 0;
  for (const double value : x.to_vector()) result = std::max(result, std::fabs(value));
  return result;
}

void expect_near(const Tensor& result, const Tensor& expected, double bound, const char* name) {
  ASSERT_EQ(result.shape(), expected.shape());
  const std::vector<double> one = result.to_vector();
  const std::vector<double> other = expected.to_vector();
  double farthest = 0;
  for (std::size_t n = 0; n < one.size(); ++n) {
    const bool same = one[n] == other[n] || (std::isnan(one[n]) && std::isnan(other[n]));
    const double distance = same ? 0 : std::fabs(one[n] - other[n]);
    farthest = std::isnan(distance) ? INFINITY : std::max(farthest, distance);
  }
  EXPECT_LE(farthest, bound) << name;
}

}  // namespace

Qkv inputs_of(const MaskShape& shape, const Widths& widths, DType dtype) {
  std::mt19937_64 engine(42);
  return {.q = normal(engine, {shape.B, shape.H, shape.Tq, widths.D}, dtype),
          .k = normal(engine, {shape.B, widths.Hk, shape.Tk, widths.D}, dtype),
          .v = normal(engine, {shape.B, widths.Hk, shape.Tk, widths.Dv}, dtype)};
}

void expect_as_reference(const Qkv& inputs, AttentionOptions options, const AttentionResult& result) {
  constexpr double kUnit = 0x1p-24;
  const auto D = static_cast<double>(inputs.q.dim(3));
  const auto Tk = static_cast<double>(inputs.k.dim(2));
  const double scale = std::fabs(options.scale.value_or(1 / std::sqrt(D)));
  // A dot product, the scale, tanh and a bias that is no larger than Tk; then exp, whose own error is below 4 units, of
  // two scores, the row's sum, and the sum of values. Weights and result are rounded to the storage type.
  const double bias = options.bias.is_zero() ? 0 : Tk;
  const double score = (D + 12) * kUnit * (scale * D * largest(inputs.q) * largest(inputs.k) + bias);
  const double weight = 2 * score + (2 * Tk + 12) * kUnit + 2 * core::unit_roundoff(inputs.q.dtype());
  const double kept = options.dropout ? 1 / (1 - options.dropout->p) : 1;
  options.target = "reference";
  options.scratch = {};
  const AttentionResult expected =
      attention(inputs.q.to(DType::f64), inputs.k.to(DType::f64), inputs.v.to(DType::f64), options);
  EXPECT_EQ(result.out.dtype(), inputs.q.dtype());
  EXPECT_EQ(result.lse.dtype(), DType::f32);
  expect_near(result.out, expected.out, weight * kept * largest(inputs.v), "out");
  expect_near(result.lse, expected.lse, score + (Tk + 12) * kUnit, "lse");
}

}  // namespace qkv::testing_attention
