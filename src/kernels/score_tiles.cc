#include "kernels/score_tiles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/element.h"
#include "kernels/cpu/task.h"
#include "kernels/exponential.h"
#include "mask/node.h"

namespace qkv::kernels {
namespace {

template <class Real>
constexpr Real kMinusInfinity = -std::numeric_limits<Real>::infinity();

// Calls put(row, d, number) for `count` rows from `first` on, axis 2 of a tensor [B, H, T, D].
template <class Real, class Put>
void load_rows(const TensorView& x, std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t count,
               const Put& put) {
  const Strides& strides = x.strides();
  core::with_type(x.dtype(), [&](auto type) {
    using Element = decltype(type);
    const auto* row = static_cast<const Element*>(x.data()) + b * strides[0] + h * strides[1] + first * strides[2];
    const std::int64_t D = x.dim(3);
    for (std::int64_t n = 0; n < count; ++n, row += strides[2]) {
      for (std::int64_t d = 0; d < D; ++d) put(n, d, static_cast<Real>(core::to_double(row[d * strides[3]])));
    }
  });
}

// Products of `Keys` keys with four queries: each sum runs over d in order.
template <int Keys>
void multiply_strip(const double* q, const double* k, std::int64_t D, double* tile) {
  typedef double Vector __attribute__((vector_size(32)));  // NOLINT(modernize-use-using): the attribute wants it
  Vector sums[Keys] = {};
  for (std::int64_t d = 0; d < D; ++d) {
    Vector queries;
    __builtin_memcpy(&queries, q + d * kTile, sizeof(queries));
    for (int c = 0; c < Keys; ++c) sums[c] += queries * k[c * D + d];
  }
  for (int c = 0; c < Keys; ++c) __builtin_memcpy(tile + c * kTile, &sums[c], sizeof(sums[c]));
}

void multiply_in_f64(const double* q, const double* k, std::int64_t queries, std::int64_t keys, std::int64_t D,
                     double* tile) {
  for (std::int64_t n = 0; n < queries; n += 4) {
    std::int64_t c = 0;
    for (; c + 4 <= keys; c += 4) multiply_strip<4>(q + n, k + c * D, D, tile + c * kTile + n);
    for (; c < keys; ++c) multiply_strip<1>(q + n, k + c * D, D, tile + c * kTile + n);
  }
}

}  // namespace

template <class Real>
void WeightScale<Real>::set(std::int64_t lane, double lse) {
  const auto n = static_cast<std::size_t>(lane);
  const bool sees_nothing = lse == kMinusInfinity<double>;
  shift[n] = sees_nothing ? 0 : static_cast<Real>(lse);
  // What rounding lse to Real has left.
  factor[n] = sees_nothing ? 0 : static_cast<Real>(std::exp(static_cast<double>(shift[n]) - lse));
}

template <class Real>
ScoreTiles<Real>::ScoreTiles(const Problem& problem, const cpu::Target* target)
    : problem_(problem),
      target_(target),
      q_(static_cast<std::size_t>(problem.q.dim(3) * kTile)),
      k_(static_cast<std::size_t>(problem.q.dim(3) * kTile)) {}

template <class Real>
void ScoreTiles<Real>::set_queries(std::int64_t b, std::int64_t h, std::int64_t i_begin, std::int64_t i_end) {
  place_ = {.b = b, .h = h, .i_begin = i_begin, .i_end = i_end};
  std::ranges::fill(q_, Real{0});
  load_rows<Real>(problem_.q, b, h, i_begin, queries(), [&](std::int64_t n, std::int64_t d, Real value) {
    q_[static_cast<std::size_t>(d * kTile + n)] = value;
  });
}

template <class Real>
KeyRange ScoreTiles<Real>::seen() const {
  if (problem_.shape.Tk == 0) return {0, 0};
  Tile all = place_;
  all.j_begin = 0;
  all.j_end = problem_.shape.Tk;
  return problem_.mask.hull(all, problem_.shape);
}

template <class Real>
bool ScoreTiles<Real>::set_keys(const KeyRange& keys) {
  place_.j_begin = keys.begin;
  place_.j_end = keys.end;
  sort_ = settle();
  return sort_ != TileClass::skip;
}

// As a tile plan has it, without keeping one: a plan of every tile would grow with T x T.
template <class Real>
TileClass ScoreTiles<Real>::settle() {
  const TileClass sort = problem_.mask.classify(place_, problem_.shape);
  if (sort != TileClass::partial) return sort;
  const int count = static_cast<int>(keys());
  std::uint64_t some = 0;
  std::uint64_t every = mask_detail::low_bits(count);
  const std::uint64_t full = every;
  for (std::int64_t n = 0; n < queries(); ++n) {
    const Place first = {place_.b, place_.h, place_.i_begin + n, place_.j_begin};
    const std::uint64_t word = problem_.mask.row_bits(first, count, problem_.shape);
    bits_[static_cast<std::size_t>(n)] = word;
    some |= word;
    every &= word;
  }
  if (some == 0) return TileClass::skip;
  return every == full ? TileClass::full : TileClass::partial;
}

template <class Real>
void ScoreTiles<Real>::load_keys() {
  const std::int64_t D = problem_.q.dim(3);
  load_rows<Real>(problem_.k, place_.b, place_.h / problem_.group, place_.j_begin, keys(),
                  [&](std::int64_t n, std::int64_t d, Real value) { k_[static_cast<std::size_t>(n * D + d)] = value; });
}

template <class Real>
void ScoreTiles<Real>::multiply(ScoreTile<Real>& tile) const {
  const std::int64_t D = problem_.q.dim(3);
  if constexpr (std::is_same_v<Real, float>) {
    target_->multiply(q_.data(), k_.data(), queries(), keys(), D, tile.data());
  } else {
    multiply_in_f64(q_.data(), k_.data(), queries(), keys(), D, tile.data());
  }
}

template <class Real>
void ScoreTiles<Real>::scores(Stage stage, ScoreTile<Real>& tile) {
  load_keys();
  multiply(tile);
  if (stage == Stage::raw) return;
  shape(stage, tile);
  if (stage >= Stage::biased && !problem_.bias.is_zero()) add_bias(stage, tile);
  if (stage >= Stage::masked && sort_ != TileClass::full) hide(tile);
}

template <class Real>
void ScoreTiles<Real>::shape(Stage stage, ScoreTile<Real>& tile) const {
  const auto scale = static_cast<Real>(problem_.scale);
  const std::span<Real> used = std::span(tile).first(static_cast<std::size_t>(keys() * kTile));
  for (Real& score : used) score *= scale;
  if (stage < Stage::softcapped || !problem_.softcap) return;
  const auto cap = static_cast<Real>(*problem_.softcap);
  for (Real& score : used) score = cap * hyperbolic_tangent(score / cap);
}

template <class Real>
void ScoreTiles<Real>::load_biases() {
  biases_.resize(kTile * kTile);
  if constexpr (std::is_same_v<Real, float>) {
    problem_.bias.write_tile(place_, biases_.data(), kTile, problem_.shape);
  } else {
    std::ranges::fill(biases_, 0);
    for (std::int64_t n = 0; n < queries(); ++n) {
      const std::span<double> row = std::span(biases_).subspan(static_cast<std::size_t>(n * kTile));
      problem_.bias.add_row({place_.b, place_.h, place_.i_begin + n, place_.j_begin},
                            row.first(static_cast<std::size_t>(keys())), problem_.shape);
    }
  }
}

template <class Real>
void ScoreTiles<Real>::add_bias(Stage stage, ScoreTile<Real>& tile) {
  load_biases();
  for (std::int64_t n = 0; n < queries(); ++n) {
    for (std::int64_t c = 0; c < keys(); ++c) {
      const Real bias = biases_[static_cast<std::size_t>(n * kTile + c)];
      Real& score = tile[static_cast<std::size_t>(c * kTile + n)];
      // A bias of -inf forbids whatever the score is.
      score = stage >= Stage::masked && bias == kMinusInfinity<Real> ? bias : score + bias;
    }
  }
}

template <class Real>
void ScoreTiles<Real>::hide(ScoreTile<Real>& tile) const {
  const std::uint64_t all = mask_detail::low_bits(keys());
  for (std::int64_t n = 0; n < queries(); ++n) {
    const std::uint64_t seen = sort_ == TileClass::skip ? 0 : bits_[static_cast<std::size_t>(n)];
    for (std::uint64_t hidden = all & ~seen; hidden != 0; hidden &= hidden - 1) {
      tile[static_cast<std::size_t>(std::countr_zero(hidden) * kTile + n)] = kMinusInfinity<Real>;
    }
  }
}

template <class Real>
void ScoreTiles<Real>::weigh(const WeightScale<Real>& scale, const ScoreTile<Real>& masked,
                             ScoreTile<Real>& weights) const {
  if constexpr (std::is_same_v<Real, float>) {
    target_->weigh(scale.shift.data(), scale.factor.data(), keys(), masked.data(), weights.data());
  } else {
    for (std::int64_t c = 0; c < keys(); ++c) {
      const double* scores = masked.data() + c * kTile;
      double* row = weights.data() + c * kTile;
      for (std::size_t n = 0; n < kTile; ++n) {
        const double weight = std::exp(scores[n] - scale.shift[n]) * scale.factor[n];
        row[n] = scores[n] == kMinusInfinity<double> ? 0 : weight;  // also where the row is NaN
      }
    }
  }
}

template <class Real>
void ScoreTiles<Real>::drop(ScoreTile<Real>& weights) const {
  if (!problem_.dropout) return;
  const auto [p, seed] = *problem_.dropout;
  for (std::int64_t n = 0; n < queries(); ++n) {
    for (std::int64_t c = 0; c < keys(); ++c) {
      Real& weight = weights[static_cast<std::size_t>(c * kTile + n)];
      const bool keeps = dropout_keeps(seed, p, {place_.b, place_.h, place_.i_begin + n, place_.j_begin + c});
      weight = keeps ? static_cast<Real>(weight / (1 - p)) : 0;
    }
  }
}

template struct WeightScale<float>;
template struct WeightScale<double>;
template class ScoreTiles<float>;
template class ScoreTiles<double>;

}  // namespace qkv::kernels
