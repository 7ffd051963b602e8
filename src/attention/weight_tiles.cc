#include "attention/weight_tiles.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "core/exact_math.h"

namespace qkv::probe_detail {

using kernels::kTile;

KeyRange tiles_that_meet(const KeyRange& keys) {
  if (keys.end <= keys.begin) return {0, 0};
  return {keys.begin / kTile, (keys.end + kTile - 1) / kTile};
}

template <class Real>
void WeightTiles<Real>::set_queries(const HeadPlace& head, std::int64_t i_begin, std::int64_t i_end) {
  h_ = head.h;
  tiles_.set_queries(head.b, head.h, i_begin, i_end);
}

template <class Real>
void WeightTiles<Real>::set_lse(std::span<const double> lse) {
  for (std::int64_t n = 0; n < queries(); ++n) scale_.set(n, lse[static_cast<std::size_t>(n)]);
}

template <class Real>
KeyRange WeightTiles<Real>::tiles() const {
  return tiles_that_meet(tiles_.seen());
}

template <class Real>
KeyRange WeightTiles<Real>::keys_of(std::int64_t tile) const {
  return {tile * kTile, std::min((tile + 1) * kTile, problem_.shape.Tk)};
}

template <class Real>
std::int64_t WeightTiles<Real>::pairs() const {
  const KeyRange seen = tiles_.seen();
  return queries() * std::max<std::int64_t>(0, seen.end - seen.begin);
}

template <class Real>
bool WeightTiles<Real>::score(const KeyRange& keys) {
  if (!tiles_.set_keys(keys)) return false;
  tiles_.scores(Stage::masked, masked_);
  return true;
}

template <class Real>
bool WeightTiles<Real>::weigh(const KeyRange& keys) {
  if (!score(keys)) return false;
  tiles_.weigh(scale_, masked_, weights_);
  return true;
}

template <class Real>
auto WeightTiles<Real>::stage(Stage stage, const KeyRange& keys) -> const Tile& {
  static_cast<void>(tiles_.set_keys(keys));
  tiles_.scores(std::min(stage, Stage::masked), masked_);
  if (stage <= Stage::masked) return masked_;
  tiles_.weigh(scale_, masked_, weights_);
  if (stage == Stage::dropped) tiles_.drop(weights_);
  return weights_;
}

namespace {

// The maximum and the sum of exp(score - maximum) of the scores seen so far, one of each for each query.
template <class Real>
struct Running {
  static constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

  kernels::WeightScale<Real> scale;  // shift: the maximum
  std::array<double, kTile> sum{};

  Running() {
    scale.shift.fill(-kInfinity);
    scale.factor.fill(1);
  }

  void raise(const kernels::ScoreTile<Real>& scores, std::int64_t keys) {
    std::array<Real, kTile> raised = scale.shift;
    for (std::int64_t c = 0; c < keys; ++c) {
      const Real* row = scores.data() + c * kTile;
      for (std::size_t n = 0; n < kTile; ++n) raised[n] = row[n] > raised[n] ? row[n] : raised[n];
    }
    for (std::size_t n = 0; n < kTile; ++n) {
      // A maximum that stays at +inf, too, makes the row NaN.
      if (raised[n] != scale.shift[n]) sum[n] *= core::exp(static_cast<double>(scale.shift[n] - raised[n]));
    }
    scale.shift = raised;
  }

  void add(const kernels::ScoreTile<Real>& weights, std::int64_t keys) {
    std::array<Real, kTile> part{};
    for (std::int64_t c = 0; c < keys; ++c) {
      const Real* row = weights.data() + c * kTile;
      for (std::size_t n = 0; n < kTile; ++n) part[n] += row[n];
    }
    for (std::size_t n = 0; n < kTile; ++n) sum[n] += static_cast<double>(part[n]);
  }

  [[nodiscard]] double lse(std::size_t n, std::optional<double> sink) const {
    const auto maximum = static_cast<double>(scale.shift[n]);
    if (sum[n] == 0) return sink.value_or(-std::numeric_limits<double>::infinity());
    if (!sink) return maximum + core::log(sum[n]);
    const double top = std::max(maximum, *sink);
    return top + core::log(sum[n] * core::exp(maximum - top) + core::exp(*sink - top));
  }
};

}  // namespace

template <class Real>
void WeightTiles<Real>::log_sum_exp(std::span<double> lse) {
  Running<Real> running;
  each_tile([&](const KeyRange& keys) {
    if (!score(keys)) return;
    running.raise(masked_, this->keys());
    tiles_.weigh(running.scale, masked_, weights_);
    running.add(weights_, this->keys());
  });
  std::optional<double> sink;
  if (!problem_.sinks.empty()) sink = problem_.sinks[static_cast<std::size_t>(h_)];
  for (std::int64_t n = 0; n < queries(); ++n) {
    lse[static_cast<std::size_t>(n)] = running.lse(static_cast<std::size_t>(n), sink);
  }
}

template class WeightTiles<float>;
template class WeightTiles<double>;

}  // namespace qkv::probe_detail
