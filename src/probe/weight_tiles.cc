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
  kernels::set_scale(tiles_, problem_, h_, lse, scale_);
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
  kernels::log_sum_exp(tiles_, problem_, h_, lse);
}

template <class Real>
void WeightTiles<Real>::read_lse(const kernels::LseRows& rows, std::int64_t i_begin, std::span<double> lse) {
  rows.read(tiles_, b_, h_, i_begin, lse);
}

template class WeightTiles<float>;
template class WeightTiles<double>;

}  // namespace qkv::probe_detail
