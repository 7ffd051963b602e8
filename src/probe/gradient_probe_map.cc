#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/gradient_tiles.h"
#include "probe/gradient_probe_state.h"
#include "probe/map_cells.h"
#include "probe/probe_places.h"

namespace qkv {
namespace {

using kernels::kTile;

// The magnitudes of the gradients with respect to a stage, for a map.
template <class Real>
class MappedGradients {
 public:
  using Number = Real;

  MappedGradients(const kernels::BackwardProblem& problem, const kernels::cpu::Target* target,
                  const kernels::LseRows& lse, Stage stage)
      : tiles_(problem, target, lse), stage_(stage), Tk_(problem.problem.shape.Tk) {}

  void set_queries(const HeadPlace& head, const probe_detail::QueryRange& queries) {
    tiles_.set_queries(head.b, head.h, queries.begin, queries.end);
  }

  [[nodiscard]] std::int64_t pairs() const {
    const KeyRange seen = tiles_.seen();
    return tiles_.queries() * std::max<std::int64_t>(0, seen.end - seen.begin);
  }
  [[nodiscard]] KeyRange tiles() const { return probe_detail::tiles_that_meet(tiles_.seen()); }
  [[nodiscard]] KeyRange keys_of(std::int64_t tile) const { return {tile * kTile, std::min((tile + 1) * kTile, Tk_)}; }

  [[nodiscard]] bool make(const KeyRange& keys) {
    if (!tiles_.set_keys(keys)) return false;
    const kernels::ScoreTile<Real>& gradients = tiles_.by(stage_);
    for (std::size_t n = 0; n < values_.size(); ++n) values_[n] = std::fabs(gradients[n]);
    return true;
  }
  [[nodiscard]] const kernels::ScoreTile<Real>& values() const { return values_; }
  [[nodiscard]] const kernels::ScoreTile<Real>& masked() const { return tiles_.masked(); }

 private:
  kernels::GradientTiles<Real> tiles_;
  Stage stage_;
  std::int64_t Tk_;
  kernels::ScoreTile<Real> values_{};
};

}  // namespace

GradientMap GradientProbe::map(HeadPlace head, const MapSize& size, Stage stage, Reduce reduce,
                               const ProbeWatch& watch) const {
  return map(head.b, {&head.h, 1}, size, stage, reduce, watch);
}

GradientMap GradientProbe::map(std::int64_t b, std::span<const std::int64_t> heads, const MapSize& size, Stage stage,
                               Reduce reduce, const ProbeWatch& watch) const {
  probe_detail::check_heads("GradientProbe::map", b, heads, shape());
  probe_detail::CellSums sums("GradientProbe::map", shape(), size, reduce, heads.size());
  std::int64_t pairs = 0;
  for (const std::int64_t h : heads) pairs += sums.pairs(state_->problem.problem, {b, h});
  probe_detail::Clock clock(watch, pairs);
  const auto walk = [&](auto real) {
    using Tiles = MappedGradients<decltype(real)>;
    probe_detail::add_tiles(
        sums, heads.size(), state_->threads, clock,
        [&] { return Tiles(state_->problem, state_->target, state_->lse, stage); },
        [&](Tiles& tiles, std::size_t n, const probe_detail::QueryRange& queries) {
          tiles.set_queries({b, heads[n]}, queries);
        });
  };
  if (state_->target == nullptr) {
    walk(double{});
  } else {
    walk(float{});
  }
  clock.finish();
  sums.finish();
  return {.magnitudes = std::move(sums.values), .visible = std::move(sums.visible)};
}

}  // namespace qkv
