#include "kernels/score_tiles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/dropout.h"
#include "core/exact_math.h"
#include "kernels/cpu/task.h"
#include "kernels/exponential.h"
#include "mask/node.h"

namespace qkv::kernels {
namespace {

template <class Real>
constexpr Real kMinusInfinity = -std::numeric_limits<Real>::infinity();

}  // namespace

template <class Real>
void WeightScale<Real>::set(std::int64_t lane, double lse) {
  const auto n = static_cast<std::size_t>(lane);
  const bool sees_nothing = lse == kMinusInfinity<double>;
  shift[n] = sees_nothing ? 0 : static_cast<Real>(lse);
  // The rounding error of lse in Real.
  factor[n] = sees_nothing ? 0 : static_cast<Real>(core::exp(static_cast<double>(shift[n]) - lse));
  rest[n] = !std::isfinite(lse) ? 0 : lse - static_cast<double>(shift[n]);
}

template <class Real>
ScoreTiles<Real>::ScoreTiles(const Problem& problem, const cpu::Target* target)
    : problem_(problem), target_(target), products_(problem.q.dim(3), target) {}

template <class Real>
void ScoreTiles<Real>::set_queries(std::int64_t b, std::int64_t h, std::int64_t i_begin, std::int64_t i_end) {
  place_ = {.b = problem_.first_b + b, .h = h, .i_begin = i_begin, .i_end = i_end};
  products_.set_queries(problem_.q, b, h, i_begin, i_end);
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

// Like a tile plan, but computed per tile: storing all tiles would take memory of O(T x T).
template <class Real>
TileClass ScoreTiles<Real>::settle() {
  const TileClass tile_class = problem_.mask.classify(place_, problem_.shape);
  if (tile_class != TileClass::partial) return tile_class;
  const int count = static_cast<int>(keys());
  std::uint64_t some = 0;
  std::uint64_t every = mask_detail::low_bits(count);
  const std::uint64_t full = every;
  for (std::int64_t n = 0; n < queries(); ++n) {
    const std::uint64_t word = problem_.mask.row_bits(row(n), count, problem_.shape);
    bits_[static_cast<std::size_t>(n)] = word;
    some |= word;
    every &= word;
  }
  if (some == 0) return TileClass::skip;
  return every == full ? TileClass::full : TileClass::partial;
}

template <class Real>
void ScoreTiles<Real>::scores(Stage stage, ScoreTile<Real>& tile) {
  products_.set_keys(problem_.k, place_.b - problem_.first_b, place_.h / problem_.group,
                     {place_.j_begin, place_.j_end});
  products_.multiply(tile);
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
      const std::span<double> biases = std::span(biases_).subspan(static_cast<std::size_t>(n * kTile));
      problem_.bias.add_row(row(n), biases.first(static_cast<std::size_t>(keys())), problem_.shape);
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
        const double weight = core::exp(scores[n] - scale.shift[n]) * scale.factor[n];
        row[n] = scores[n] == kMinusInfinity<double> ? 0 : weight;  // also where the row is NaN
      }
    }
  }
}

// Divides kept weights by 1 - p; replaces others by drop(weight).
template <class Real>
template <class Drop>
void ScoreTiles<Real>::drop_each(ScoreTile<Real>& tile, const Drop& drop) const {
  if (!problem_.dropout) return;
  const auto [p, seed] = *problem_.dropout;
  for (std::int64_t n = 0; n < queries(); ++n) {
    const Place first = row(n);
    const auto key = [&](std::int64_t c) { return problem_.window.key(first.j + c); };
    for (std::int64_t c = 0; c < keys();) {
      const Place whole = problem_.whole(first.b - problem_.first_b, first.h, first.i, first.j + c);
      const std::int64_t group = whole.j / core::kDropoutGroup;
      const auto kept = core::dropout_keeps_group(seed, p, whole);
      for (; c < keys() && key(c) / core::kDropoutGroup == group; ++c) {
        Real& number = tile[static_cast<std::size_t>(c * kTile + n)];
        const auto place = static_cast<std::size_t>(key(c) % core::kDropoutGroup);
        number = kept[place] ? static_cast<Real>(number / (1 - p)) : drop(number);
      }
    }
  }
}

template <class Real>
void ScoreTiles<Real>::drop(ScoreTile<Real>& weights) const {
  drop_each(weights, [](Real weight) { return std::isnan(weight) ? weight : Real{0}; });
}

template <class Real>
void ScoreTiles<Real>::drop_gradients(ScoreTile<Real>& gradients) const {
  drop_each(gradients, [](Real) { return Real{0}; });
}

template struct WeightScale<float>;
template struct WeightScale<double>;
template class ScoreTiles<float>;
template class ScoreTiles<double>;

}  // namespace qkv::kernels
