#include "cases/plain.h"

#include <algorithm>
#include <cmath>

namespace qkv::cases {

PlainRow::PlainRow(const PlainCall& call)
    : call_(call),
      options_(call.options),
      scale_(static_cast<float>(call.options.scale.value_or(1 / std::sqrt(static_cast<double>(call.D))))),
      x_(static_cast<std::size_t>(call.shape.Tk)),
      weights_(x_),
      kept_(x_),
      slopes_(x_),
      sums_(static_cast<std::size_t>(call.Dv)) {}

float PlainRow::run(const Row& row, double* out) {
  score(row);
  const float lse = weigh(row);
  std::ranges::fill(sums_, 0.0F);
  for (std::int64_t j = 0; j < call_.shape.Tk; ++j) {
    const auto n = static_cast<std::size_t>(j);
    const float weight = rounded(weights_[n] * kept_[n], call_.dtype);
    if (weight == 0) continue;
    const double* v = key_row(call_.v, row, j, call_.Dv);
    for (float& sum : sums_) sum += weight * static_cast<float>(*v++);
  }
  for (const float sum : sums_) *out++ = rounded(sum, call_.dtype);
  return lse;
}

const double* PlainRow::key_row(std::span<const double> rows, const Row& row, std::int64_t j,
                                std::int64_t width) const {
  const std::int64_t key_head = row.h / (call_.shape.H / call_.Hk);
  return rows.data() + place_of(row.b, key_head, j, call_.Hk, call_.shape.Tk, width);
}

void PlainRow::score(const Row& row) {
  const double* q = call_.q.data() + place_of(row.b, row.h, row.i, call_.shape.H, call_.shape.Tq, call_.D);
  for (std::int64_t j = 0; j < call_.shape.Tk; ++j) {
    const Place place = {.b = row.b, .h = row.h, .i = row.i, .j = j};
    const auto n = static_cast<std::size_t>(j);
    float& x = x_[n];
    x = -INFINITY;
    slopes_[n] = 1;
    kept_[n] = 1;
    if (options_.dropout) {
      const auto [p, seed] = *options_.dropout;
      kept_[n] = dropout_keeps(seed, p, place) ? 1 / static_cast<float>(1 - p) : 0;
    }
    if (!options_.mask.allows(place, call_.shape)) continue;
    const auto bias = static_cast<float>(options_.bias.at(place, call_.shape));
    if (bias == -INFINITY) continue;
    const double* k = key_row(call_.k, row, j, call_.D);
    float dot = 0;
    for (std::int64_t d = 0; d < call_.D; ++d) dot += static_cast<float>(q[d]) * static_cast<float>(k[d]);
    x = dot * scale_;
    if (options_.softcap) {
      const auto cap = static_cast<float>(*options_.softcap);
      const float share = std::tanh(x / cap);
      x = cap * share;
      slopes_[n] = 1 - share * share;
    }
    x += bias;
  }
}

float PlainRow::weigh(const Row& row) {
  const bool has_sink = !options_.sinks.empty();
  const auto sink = has_sink ? static_cast<float>(options_.sinks[static_cast<std::size_t>(row.h)]) : -INFINITY;
  float top = sink;
  for (const float x : x_) top = std::max(top, x);
  std::ranges::fill(weights_, 0.0F);
  if (top == -INFINITY) return -INFINITY;
  float sum = has_sink ? std::exp(sink - top) : 0;
  for (std::size_t n = 0; n < x_.size(); ++n) sum += weights_[n] = std::exp(x_[n] - top);
  for (float& weight : weights_) weight /= sum;
  sink_weight_ = has_sink ? std::exp(sink - top) / sum : 0;
  return top + std::log(sum);
}

float rounded(float value, DType dtype) {
  if (dtype == DType::f16) return static_cast<float>(Half(value));
  if (dtype == DType::bf16) return static_cast<float>(BFloat16(value));
  return value;
}

PlainResult run_plain(const PlainCall& call) {
  const auto& [B, H, Tq, Tk] = call.shape;
  PlainResult result;
  result.out.resize(static_cast<std::size_t>(B * H * Tq * call.Dv));
  double* out = result.out.data();
  PlainRow plain(call);
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t h = 0; h < H; ++h) {
      for (std::int64_t i = 0; i < Tq; ++i, out += call.Dv) {
        result.lse.push_back(plain.run({.b = b, .h = h, .i = i}, out));
      }
    }
  }
  return result;
}

}  // namespace qkv::cases
