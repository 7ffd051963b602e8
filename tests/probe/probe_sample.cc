#include "probe/probe_sample.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "attention/fused_call.h"
#include "mask/random_bias.h"
#include "mask/random_mask.h"

namespace qkv::testing_probe {
namespace {

using mask_test::any_in;

Tensor normal(const Shape& shape, DType dtype) {
  std::mt19937_64 engine(*rc::gen::arbitrary<std::uint64_t>());
  std::normal_distribution<double> draw;
  Tensor tensor(DType::f64, shape);
  for (double& value : tensor.values<double>()) value = draw(engine);
  return tensor.to(dtype);
}

std::int64_t any_length(bool whole) { return any_in(0, 2) == 0 ? any_in(62, 67) : any_in(whole ? 1 : 0, 9); }

double largest(const Tensor& x) {
  double result = 0;
  for (const double value : x.to_vector()) result = std::max(result, std::fabs(value));
  return result;
}

double largest_bias(const Sample& sample) {
  const auto [B, H, Tq, Tk] = sample.shape();
  double result = 0;
  for (std::int64_t place = 0; place < B * H * Tq * Tk; ++place) {
    const std::int64_t row = place / Tk;
    const Place at = {row / Tq / H, row / Tq % H, row % Tq, place % Tk};
    const double bias = sample.options.bias.at(at, sample.shape());
    if (std::isfinite(bias)) result = std::max(result, std::fabs(bias));
  }
  return result;
}

std::vector<std::string> all_targets() {
  std::vector<std::string> names = testing_attention::fused_targets();
  names.emplace_back("reference");
  return names;
}

// Options keep no name of their own.
std::string_view any_target() {
  static const std::vector<std::string> kNames = all_targets();
  return kNames[static_cast<std::size_t>(any_in(0, static_cast<std::int64_t>(kNames.size()) - 1))];
}

}  // namespace

Tensor Sample::stage(HeadPlace head, Stage stage) const {
  return Tensor(attention_stage(q, k, options, stage).view().select(0, head.b).select(0, head.h));
}

Tensor Sample::visible(HeadPlace head) const {
  Tensor visible = stage(head, Stage::masked);
  for (double& score : visible.values<double>()) score = std::isinf(score) ? 0 : 1;
  return visible;
}

HeadPlace Sample::any_head() const { return {any_in(0, q.dim(0) - 1), any_in(0, q.dim(1) - 1)}; }

DType any_dtype() { return *rc::gen::element(DType::f64, DType::f32, DType::f16, DType::bf16); }

Sample any_sample(DType dtype, bool whole) {
  const std::int64_t Hk = any_in(1, 2);
  const MaskShape shape = {any_in(1, 2), Hk * any_in(1, 2), any_length(whole), any_length(whole)};
  const std::int64_t D = any_in(1, 6);
  Sample sample{.q = normal({shape.B, shape.H, shape.Tq, D}, dtype),
                .k = normal({shape.B, Hk, shape.Tk, D}, dtype),
                .options = {.scale = *rc::gen::element(std::optional<double>{}, std::optional(-2.0)),
                            .softcap = *rc::gen::element(std::optional<double>{}, std::optional(1.5)),
                            .bias = mask_test::any_bias(shape),
                            .mask = mask_test::any_mask(shape, 2).mask}};
  sample.options.target = any_target();
  if (any_in(0, 1) == 1) sample.options.dropout = Dropout{.p = 0.3, .seed = 7};
  if (any_in(0, 1) == 1) sample.options.sinks.assign(static_cast<std::size_t>(shape.H), 0.5);
  return sample;
}

Bounds bounds_of(const Sample& sample) {
  const double unit = sample.q.dtype() == DType::f64 ? 0x1p-53 : 0x1p-24;
  const auto D = static_cast<double>(sample.q.dim(3));
  const double scale = std::fabs(sample.options.scale.value_or(1 / std::sqrt(D)));
  const double size = scale * D * largest(sample.q) * largest(sample.k) + largest_bias(sample);
  const double score = (D + 14) * unit * size;
  return {.score = score,
          .weight = std::expm1(2 * score + 4 * unit * (size + 8)) + 80 * unit,
          .least = unit == 0x1p-53 ? 0 : 0x1p-125};
}

bool close(double got, double expected, double absolute, double relative) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return true;
  return std::fabs(got - expected) <= absolute + relative * std::fabs(expected);
}

}  // namespace qkv::testing_probe
