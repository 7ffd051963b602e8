#include "attention/random_call.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace qkv::testing_attention {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::int64_t any_extent(std::int64_t low, std::int64_t high) {
  return *rc::gen::resize(100, rc::gen::inRange<std::int64_t>(low, high + 1));
}

Tensor normal(std::mt19937_64& engine, const Shape& shape) {
  std::normal_distribution<double> draw;
  Tensor tensor(DType::f64, shape);
  for (double& value : tensor.values<double>()) value = draw(engine);
  return tensor;
}

double largest(const Tensor& x) {
  double result = 0;
  for (const double value : x.to_vector()) result = std::max(result, std::isfinite(value) ? std::fabs(value) : 0);
  return result;
}

}  // namespace

AttentionOptions Call::options() const {
  return {.scale = scale, .softcap = softcap, .bias = dense_bias(bias), .mask = dense(visible)};
}

Call any_call() {
  const std::int64_t B = any_extent(0, 2);
  const std::int64_t Hk = any_extent(1, 2);
  const std::int64_t Hq = Hk * any_extent(1, 3);
  const std::int64_t Tq = any_extent(0, 5);
  const std::int64_t Tk = any_extent(0, 7);
  const std::int64_t D = any_extent(1, 5);
  const std::int64_t Dv = any_extent(1, 4);
  std::mt19937_64 engine(*rc::gen::arbitrary<std::uint64_t>());
  Call call = {.q = normal(engine, {B, Hq, Tq, D}),
               .k = normal(engine, {B, Hk, Tk, D}),
               .v = normal(engine, {B, Hk, Tk, Dv}),
               .visible = Tensor(DType::b8, {B, Hq, Tq, Tk}),
               .bias = normal(engine, {B, Hq, Tq, Tk}),
               .scale = *rc::gen::element(std::optional<double>{}, std::optional(-2.0), std::optional(0.5)),
               .softcap = *rc::gen::element(std::optional<double>{}, std::optional(1.5))};
  const double share = *rc::gen::element(0.0, 0.5, 1.0);
  std::bernoulli_distribution sees(share);
  for (bool& pair : call.visible.values<bool>()) pair = sees(engine);
  std::bernoulli_distribution forbids(*rc::gen::element(0.0, 0.2));
  for (double& value : call.bias.values<double>()) value = forbids(engine) ? -kInfinity : value;
  return call;
}

std::vector<std::int64_t> any_order(std::int64_t n) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 engine(*rc::gen::arbitrary<std::uint64_t>());
  std::shuffle(order.begin(), order.end(), engine);
  return order;
}

Tensor take(const TensorView& x, int axis, const std::vector<std::int64_t>& order) {
  Shape shape = x.shape();
  shape[axis] = static_cast<std::int64_t>(order.size());
  const TensorView front = x.transpose(0, axis);
  std::vector<double> values;
  for (const std::int64_t index : order) {
    const std::vector<double> slice = front.select(0, index).to_vector();
    values.insert(values.end(), slice.begin(), slice.end());
  }
  Shape front_shape = front.shape();
  front_shape[0] = shape[axis];
  return {Tensor(values, front_shape).view().transpose(0, axis), x.dtype()};
}

RoundingBounds rounding_bounds(const Call& call) {
  constexpr double kUnit = 0x1p-53;
  const auto D = static_cast<double>(call.q.dim(3));
  const auto Tk = static_cast<double>(call.k.dim(2));
  const double scale = std::fabs(call.scale.value_or(1 / std::sqrt(D)));
  const double size = scale * D * largest(call.q) * largest(call.k) + largest(call.bias);
  const double score = (D + 8) * kUnit * size;
  const double weight = 2 * score + (Tk + 4) * kUnit;
  return {.score = score, .weight = weight, .out = (weight + (Tk + 1) * kUnit) * largest(call.v)};
}

double largest_difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = a.to_vector();
  const std::vector<double> right = b.to_vector();
  double result = left.size() == right.size() ? 0 : kInfinity;
  for (std::size_t n = 0; n < std::min(left.size(), right.size()); ++n) {
    if (left[n] == right[n]) continue;
    const double difference = std::fabs(left[n] - right[n]);
    result = std::isnan(difference) ? kInfinity : std::max(result, difference);
  }
  return result;
}

}  // namespace qkv::testing_attention
