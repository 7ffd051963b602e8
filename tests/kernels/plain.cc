#include "kernels/plain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reference/attention.h"

namespace qkv::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> row_of(const TensorView& x, std::int64_t b, std::int64_t h, std::int64_t t) {
  std::vector<double> wide(static_cast<std::size_t>(x.dim(3)));
  x.load_row(std::array<std::int64_t, 3>{b, h, t}, wide);
  return {wide.begin(), wide.end()};
}

float score_of(const Problem& problem, const Place& pair) {
  if (!problem.mask.allows(pair, problem.shape)) return -kInfinity;
  const std::vector<float> q = row_of(problem.q, pair.b, pair.h, pair.i);
  const std::vector<float> k = row_of(problem.k, pair.b, pair.h / problem.group, pair.j);
  float score = 0;
  for (std::size_t d = 0; d < q.size(); ++d) score += q[d] * k[d];
  score *= static_cast<float>(problem.scale);
  if (problem.softcap) {
    const auto cap = static_cast<float>(*problem.softcap);
    score = cap * std::tanh(score / cap);
  }
  return score + static_cast<float>(problem.bias.at(pair, problem.shape));
}

struct Row {
  std::vector<double> out;
  double lse;
};

Row plain_row(const Problem& problem, const TensorView& v, const Place& place) {
  const float sink =
      problem.sinks.empty() ? -kInfinity : static_cast<float>(problem.sinks[static_cast<std::size_t>(place.h)]);
  std::vector<float> scores;
  float maximum = sink;
  for (std::int64_t j = 0; j < problem.shape.Tk; ++j) {
    scores.push_back(score_of(problem, {.b = place.b, .h = place.h, .i = place.i, .j = j}));
    maximum = std::max(maximum, scores.back());
  }
  std::vector<float> out(static_cast<std::size_t>(v.dim(3)));
  if (maximum == -kInfinity) return {.out = {out.begin(), out.end()}, .lse = maximum};
  float sum = std::exp(sink - maximum);
  for (std::int64_t j = 0; j < problem.shape.Tk; ++j) {
    float weight = std::exp(scores[static_cast<std::size_t>(j)] - maximum);
    sum += weight;
    if (weight == 0) continue;
    if (problem.dropout) {
      const auto [p, seed] = *problem.dropout;
      const bool kept = dropout_keeps(seed, p, {.b = place.b, .h = place.h, .i = place.i, .j = j});
      weight = kept ? weight / static_cast<float>(1 - p) : 0;
    }
    const std::vector<float> value = row_of(v, place.b, place.h / problem.group, j);
    for (std::size_t d = 0; d < out.size(); ++d) out[d] += weight * value[d];
  }
  for (float& element : out) element /= sum;
  return {.out = {out.begin(), out.end()}, .lse = maximum + std::log(sum)};
}

}  // namespace

Results plain(const Problem& problem, const TensorView& v) {
  const MaskShape& shape = problem.shape;
  Results results = {.out = Tensor(problem.q.dtype(), {shape.B, shape.H, shape.Tq, v.dim(3)}),
                     .lse = Tensor(DType::f32, {shape.B, shape.H, shape.Tq})};
  for (std::int64_t b = 0; b < shape.B; ++b) {
    for (std::int64_t h = 0; h < shape.H; ++h) {
      for (std::int64_t i = 0; i < shape.Tq; ++i) {
        const Row row = plain_row(problem, v, {.b = b, .h = h, .i = i});
        results.out.store_row(std::array<std::int64_t, 3>{b, h, i}, row.out);
        results.lse.set({b, h, i}, row.lse);
      }
    }
  }
  return results;
}

Results exact(const Problem& problem, const TensorView& v) {
  const MaskShape& shape = problem.shape;
  Results results = {.out = Tensor(DType::f64, {shape.B, shape.H, shape.Tq, v.dim(3)}),
                     .lse = Tensor(DType::f64, {shape.B, shape.H, shape.Tq})};
  reference::forward(problem, v, results.out, results.lse);
  return results;
}

double error_of(const TensorView& got, const TensorView& expected) {
  const std::vector<double> a = got.to_vector();
  const std::vector<double> b = expected.to_vector();
  double error = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    if (a[n] == b[n] || (std::isnan(a[n]) && std::isnan(b[n]))) continue;
    const bool both_finite = std::isfinite(a[n]) && std::isfinite(b[n]);
    error = std::max(error, both_finite ? std::abs(a[n] - b[n]) : std::numeric_limits<double>::infinity());
  }
  return error;
}

}  // namespace qkv::kernels
