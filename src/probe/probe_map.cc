#include <vector>

#include "probe/map_cells.h"
#include "probe/probe_places.h"

namespace qkv {
namespace {

// The weights of tiles, for a map.
template <class Real>
class MappedWeights : public probe_detail::WeightTiles<Real> {
 public:
  using probe_detail::WeightTiles<Real>::WeightTiles;

  [[nodiscard]] bool make(const KeyRange& keys) { return this->weigh(keys); }
  [[nodiscard]] const kernels::ScoreTile<Real>& values() const { return this->weights(); }
};

}  // namespace

WeightMap Probe::map(HeadPlace head, const MapSize& size, Reduce reduce, const ProbeWatch& watch) const {
  return map(head.b, {&head.h, 1}, size, reduce, watch);
}

WeightMap Probe::map(std::int64_t b, std::span<const std::int64_t> heads, const MapSize& size, Reduce reduce,
                     const ProbeWatch& watch) const {
  const kernels::Problem& problem = state_->problem;
  probe_detail::check_heads("Probe::map", b, heads, problem.shape);
  probe_detail::CellSums sums("Probe::map", problem.shape, size, reduce, heads.size());
  std::int64_t pairs = 0;
  for (const std::int64_t h : heads) pairs += probe_detail::lse_pairs(*state_, {b, h}) + sums.pairs(problem, {b, h});
  probe_detail::Clock clock(watch, pairs);
  std::vector<std::shared_ptr<const std::vector<double>>> lse;
  for (const std::int64_t h : heads) lse.push_back(probe_detail::require_lse(*state_, {b, h}, clock));
  probe_detail::with_real(*state_, [&](auto real) {
    using Tiles = MappedWeights<decltype(real)>;
    probe_detail::add_tiles(
        sums, heads.size(), state_->threads, clock, [&] { return Tiles(problem, state_->target); },
        [&](Tiles& tiles, std::size_t n, const probe_detail::QueryRange& queries) {
          tiles.set_queries({b, heads[n]}, queries.begin, queries.end);
          tiles.set_lse(std::span(*lse[n]).subspan(static_cast<std::size_t>(queries.begin)));
        });
  });
  clock.finish();
  sums.finish();
  return {.weights = std::move(sums.values), .visible = std::move(sums.visible)};
}

}  // namespace qkv
