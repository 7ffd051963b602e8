#include "cases/plain.h"

#include <algorithm>
#include <cmath>

namespace qkv::cases {

PlainRow::PlainRow(const Case& one, const Inputs& inputs, const Numbers& numbers)
    : one_(one),
      options_(inputs.options),
      numbers_(numbers),
      scale_(static_cast<float>(inputs.options.scale.value_or(1 / std::sqrt(static_cast<double>(one.D))))),
      x_(static_cast<std::size_t>(one.Tk)),
      weights_(x_),
      kept_(x_),
      slopes_(x_) {}

float PlainRow::run(const Row& row, double* out) {
  score(row);
  const float lse = weigh(row);
  const std::int64_t key_head = row.h / one_.group;
  for (std::int64_t d = 0; d < one_.Dv; ++d) {
    float sum = 0;
    for (std::int64_t j = 0; j < one_.Tk; ++j) {
      const auto n = static_cast<std::size_t>(j);
      const float weight = rounded(weights_[n] * kept_[n], one_.dtype);
      const std::size_t place = place_of(row.b, key_head, j, one_.Hk, one_.Tk, one_.Dv);
      if (weight != 0) sum += weight * static_cast<float>(numbers_.v[place + static_cast<std::size_t>(d)]);
    }
    out[d] = rounded(sum, one_.dtype);
  }
  return lse;
}

void PlainRow::score(const Row& row) {
  const double* q = numbers_.q.data() + place_of(row.b, row.h, row.i, one_.Hq(), one_.Tq, one_.D);
  for (std::int64_t j = 0; j < one_.Tk; ++j) {
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
    if (!options_.mask.allows(place, one_.shape())) continue;
    const auto bias = static_cast<float>(options_.bias.at(place, one_.shape()));
    if (bias == -INFINITY) continue;
    const double* k = numbers_.k.data() + place_of(row.b, row.h / one_.group, j, one_.Hk, one_.Tk, one_.D);
    float dot = 0;
    for (std::int64_t d = 0; d < one_.D; ++d) dot += static_cast<float>(q[d]) * static_cast<float>(k[d]);
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
  return top + std::log(sum);
}

float rounded(float value, DType dtype) {
  if (dtype == DType::f16) return static_cast<float>(Half(value));
  if (dtype == DType::bf16) return static_cast<float>(BFloat16(value));
  return value;
}

PlainResult run_plain(const Case& one, const Inputs& inputs, const Numbers& numbers) {
  PlainResult result;
  result.out.resize(static_cast<std::size_t>(one.B * one.Hq() * one.Tq * one.Dv));
  PlainRow plain(one, inputs, numbers);
  for_each_row(one, [&](const Row& row) {
    double* out = result.out.data() + place_of(row.b, row.h, row.i, one.Hq(), one.Tq, one.Dv);
    result.lse.push_back(plain.run(row, out));
  });
  return result;
}

}  // namespace qkv::cases
