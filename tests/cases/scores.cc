#include "cases/scores.h"

#include <algorithm>
#include <cmath>

namespace qkv::cases {

Numbers::Numbers(const Inputs& inputs)
    : q(inputs.q.view().view().to_vector()),
      k(inputs.k.view().view().to_vector()),
      v(inputs.v.view().view().to_vector()) {}

ScoreReader::ScoreReader(const Case& one, const Inputs& inputs, const Numbers& numbers)
    : one_(one),
      options_(inputs.options),
      numbers_(numbers),
      scale_(inputs.options.scale.value_or(1 / std::sqrt(static_cast<double>(one.D)))) {
  scores_.x.resize(static_cast<std::size_t>(one.Tk));
  scores_.dropped.resize(static_cast<std::size_t>(one.Tk));
  values_.resize(static_cast<std::size_t>(one.B * one.Hk * one.Tk));
  const double* v = numbers.v.data();
  for (double& largest : values_) {
    for (std::int64_t d = 0; d < one.Dv; ++d, ++v) {
      if (std::isfinite(*v)) largest = std::max(largest, std::fabs(*v));
    }
  }
}

double ScoreReader::score(const Row& row, std::int64_t j, double bias) {
  const double* q = numbers_.q.data() + place_of(row.b, row.h, row.i, one_.Hq(), one_.Tq, one_.D);
  const double* k = numbers_.k.data() + place_of(row.b, row.h / one_.group, j, one_.Hk, one_.Tk, one_.D);
  double dot = 0;
  double size = 0;
  for (std::int64_t d = 0; d < one_.D; ++d) {
    const double term = q[d] * k[d];
    dot += term;
    if (std::isfinite(term)) size += std::fabs(term);
    // The matrix unit takes numbers of bf16 below 2^-126 as 0, and infinity times them as NaN.
    const double smaller = std::min(std::fabs(q[d]), std::fabs(k[d]));
    if (one_.dtype == DType::bf16 && std::isinf(term) && smaller < 0x1p-126) size = kInfinity;
  }
  scores_.raw_size = std::max(scores_.raw_size, size);
  scores_.size = std::max(scores_.size, std::fabs(scale_) * size + (std::isfinite(bias) ? std::fabs(bias) : 0));
  const double scaled = scale_ * dot;
  return (options_.softcap ? *options_.softcap * std::tanh(scaled / *options_.softcap) : scaled) + bias;
}

void ScoreReader::weigh(const Row& row) {
  double top = options_.sinks.empty() ? -kInfinity : options_.sinks[static_cast<std::size_t>(row.h)];
  double sum = 0;
  const double sink = top;
  for (const double x : scores_.x) top = std::max(top, x);
  for (const double x : scores_.x) sum += x == -kInfinity ? 0 : std::exp(x - top);
  if (sink > -kInfinity) sum += std::exp(sink - top);
  for (std::int64_t j = 0; j < one_.Tk; ++j) {
    const auto n = static_cast<std::size_t>(j);
    double weight = scores_.x[n] == -kInfinity ? 0 : std::exp(scores_.x[n] - top) / sum;
    if (options_.dropout) {
      const auto [p, seed] = *options_.dropout;
      weight = dropout_keeps(seed, p, {.b = row.b, .h = row.h, .i = row.i, .j = j}) ? weight / (1 - p) : 0;
    }
    scores_.dropped[n] = weight;
  }
}

const RowScores& ScoreReader::read(const Row& row) {
  scores_.size = 0;
  scores_.raw_size = 0;
  scores_.value = 0;
  const MaskShape shape = one_.shape();
  for (std::int64_t j = 0; j < one_.Tk; ++j) {
    const Place place = {.b = row.b, .h = row.h, .i = row.i, .j = j};
    double& x = scores_.x[static_cast<std::size_t>(j)];
    x = -kInfinity;
    if (!options_.mask.allows(place, shape)) continue;
    const double bias = options_.bias.at(place, shape);
    if (bias == -kInfinity) continue;
    x = score(row, j, bias);
    if (x == -kInfinity) continue;
    scores_.value = std::max(scores_.value, values_[place_of(row.b, row.h / one_.group, j, one_.Hk, one_.Tk, 1)]);
  }
  weigh(row);
  return scores_;
}

}  // namespace qkv::cases
