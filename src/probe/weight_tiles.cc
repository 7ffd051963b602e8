#include "probe/weight_tiles.h"

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

KeyRange common(const KeyRange& a, const KeyRange& b) {
  return {std::max(a.begin, b.begin), std::max(std::max(a.begin, b.begin), std::min(a.end, b.end))};
}

template <class Real>
void WeightTiles<Real>::set_queries(const HeadPlace& head, std::int64_t i_begin, std::int64_t i_end) {
  b_ = head.b;
  h_ = head.h;
  tiles_.set_queries(head.b, head.h, i_begin, i_end);
}

template <class Real>
void WeightTiles<Real>::set_lse(std::span<const double> lse) {
  for (std::int64_t n = 0; n < queries(); ++n) scale_.set(n, lse[static_cast<std::size_t>(n)]);
}

template <class Real>
std::int64_t WeightTiles<Real>::pairs() const {
  return queries() * length(seen());
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

template <class Real>
void WeightTiles<Real>::log_sum_exp(std::span<double> lse) {
  std::optional<double> sink;
  if (!problem_.sinks.empty()) sink = problem_.sinks[static_cast<std::size_t>(h_)];
  kernels::log_sum_exp(tiles_, problem_.shape.Tk, sink, lse);
}

template <class Real>
void WeightTiles<Real>::read_lse(const kernels::LseRows& rows, std::int64_t i_begin, std::span<double> lse) {
  rows.read(tiles_, b_, h_, i_begin, lse);
}

template class WeightTiles<float>;
template class WeightTiles<double>;

}  // namespace qkv::probe_detail
