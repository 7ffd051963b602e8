#include "attention/random_backward.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "mask/random_mask.h"

namespace qkv::testing_attention {
namespace {

using mask_test::any_in;

bool any_flag() { return *rc::gen::arbitrary<bool>(); }

std::int64_t one_or(std::int64_t extent) { return any_flag() ? extent : 1; }

Align any_align() { return *rc::gen::element(Align::bottom_right, Align::top_left); }

std::vector<double> numbers_of(const Tensor& x) { return x.to_vector(); }

RandomTerm any_alibi(std::int64_t H) {
  return {.numbers = any_normal({H}),
          .make = [align = any_align()](const Tensor& slopes) { return alibi(numbers_of(slopes), align); }};
}

RandomTerm any_t5(std::int64_t H) {
  const T5Buckets buckets = {.buckets = 2 * any_in(2, 4), .max_distance = any_in(5, 20), .bidirectional = any_flag()};
  return {.numbers = any_normal({buckets.buckets, H}),
          .make = [buckets, align = any_align()](const Tensor& table) { return t5_bias(table, buckets, align); }};
}

RandomTerm any_dense(const Shape& shape) {
  RandomTerm term = {.numbers = any_normal(shape), .make = [](const Tensor& values) { return dense_bias(values); }};
  if (!any_flag()) return term;
  for (double& number : term.numbers.values<double>()) {
    if (number < -1) number = -std::numeric_limits<double>::infinity();
  }
  return term;
}

std::vector<RandomTerm> any_terms(const MaskShape& shape) {
  std::vector<RandomTerm> terms;
  for (std::int64_t n = any_in(0, 3); n > 0; --n) {
    const std::int64_t choice = any_in(0, 3);
    if (choice == 0) {
      terms.push_back(any_alibi(shape.H));
    } else if (choice == 1) {
      terms.push_back(any_t5(shape.H));
    } else {
      terms.push_back(any_dense({one_or(shape.B), one_or(shape.H), one_or(shape.Tq), one_or(shape.Tk)}));
    }
  }
  return terms;
}

struct Extents {
  MaskShape shape;
  std::int64_t Hk;
};

RandomLoss any_numbers(const Extents& extents) {
  const auto [B, H, Tq, Tk] = extents.shape;
  const std::int64_t D = any_in(1, 5);
  const std::int64_t Dv = any_in(0, 4);
  RandomLoss loss = {.q = any_normal({B, H, Tq, D}),
                     .k = any_normal({B, extents.Hk, Tk, D}),
                     .v = any_normal({B, extents.Hk, Tk, Dv}),
                     .d_out = any_normal({B, H, Tq, Dv}),
                     .d_lse = any_normal({B, H, Tq}),
                     .terms = {},
                     .rest = {}};
  loss.rest.scale = *rc::gen::element(std::optional<double>{}, std::optional(-1.5), std::optional(0.5));
  loss.rest.softcap = *rc::gen::element(std::optional<double>{}, std::optional(1.5));
  if (any_flag()) loss.rest.dropout = Dropout{.p = 0.3, .seed = static_cast<std::uint64_t>(any_in(0, 1000))};
  if (any_flag()) loss.rest.sinks = any_normal({H}).to_vector();
  return loss;
}

std::vector<std::int64_t> any_offsets(std::int64_t documents, std::int64_t longest) {
  std::vector<std::int64_t> offsets = {0};
  for (std::int64_t n = 0; n < documents; ++n) offsets.push_back(offsets.back() + any_in(0, longest));
  return offsets;
}

double sum_of_products(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = a.to_vector();
  const std::vector<double> right = b.to_vector();
  double sum = 0;
  for (std::size_t n = 0; n < left.size(); ++n) {
    if (std::isfinite(right[n])) sum += left[n] * right[n];
  }
  return sum;
}

}  // namespace

Tensor any_normal(const Shape& shape) {
  std::mt19937_64 engine(*rc::gen::arbitrary<std::uint64_t>());
  std::normal_distribution<double> draw;
  Tensor tensor(DType::f64, shape);
  for (double& value : tensor.values<double>()) value = draw(engine);
  return tensor;
}

AttentionOptions RandomLoss::options() const {
  AttentionOptions options = rest;
  for (const RandomTerm& term : terms) options.bias = options.bias + term.make(term.numbers);
  return options;
}

AttentionGradients RandomLoss::backward(const AttentionResult& result, const GradientWants& wants) const {
  return attention_backward(d_out, q, k, v, result.out, result.lse, options(), {.d_lse = d_lse, .wants = wants});
}

double RandomLoss::loss() const {
  const AttentionResult result = forward();
  return sum_of_products(d_out, result.out) + sum_of_products(d_lse, result.lse);
}

double RandomLoss::size() const {
  const auto sizes = [](const Tensor& x) {
    double sum = 0;
    for (const double value : x.to_vector()) sum += std::isfinite(value) ? std::fabs(value) : 0;
    return sum;
  };
  // |out| is at most the largest |v| over 1 - p, |lse| the largest |score| plus log(Tk + 1).
  const double scores = 1.5 * 5 * 5 * 5 + 3 * 5 * 100 + std::log(100);
  return sizes(d_out) * 5 / 0.7 + sizes(d_lse) * scores;
}

RandomLoss any_loss() {
  const std::int64_t Hk = any_in(1, 2);
  const Extents extents = {.shape = {.B = any_in(1, 2), .H = Hk * any_in(1, 3), .Tq = any_in(0, 6), .Tk = any_in(0, 8)},
                           .Hk = Hk};
  RandomLoss loss = any_numbers(extents);
  loss.terms = any_terms(extents.shape);
  loss.rest.mask = mask_test::any_mask(extents.shape, 2).mask;
  return loss;
}

RandomLoss any_ragged_loss() {
  const std::int64_t documents = any_in(1, 4);
  const Ragged ragged = {.q_offsets = any_offsets(documents, 5), .k_offsets = any_offsets(documents, 6)};
  const std::int64_t Hk = any_in(1, 2);
  const Extents extents = {
      .shape = {.B = 1, .H = Hk * any_in(1, 2), .Tq = ragged.q_offsets.back(), .Tk = ragged.k_offsets.back()},
      .Hk = Hk};
  RandomLoss loss = any_numbers(extents);
  // What stands over documents of any lengths.
  loss.terms = any_terms({.B = documents, .H = extents.shape.H, .Tq = 1, .Tk = 1});
  loss.rest.mask = *rc::gen::element(all(), causal(), causal(Align::top_left), window(3));
  loss.rest.ragged = ragged;
  return loss;
}

}  // namespace qkv::testing_attention
