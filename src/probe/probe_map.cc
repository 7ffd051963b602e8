#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "probe/map_cells.h"

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

CellMaps Probe::map(const MapRequest& request, const ProbeWatch& watch) const {
  const kernels::Problem& problem = state_->problem;
  probe_detail::CellSums sums("Probe::map", state_->shape, request);
  const probe_detail::BlockRange rows = sums.queries();
  std::set<std::int64_t> heads;
  for (const auto& group : sums.groups) heads.insert(group.begin(), group.end());
  std::int64_t pairs = sums.pairs(problem);
  for (const std::int64_t h : heads) pairs += probe_detail::lse_pairs(*state_, {request.b, h}, rows);
  probe_detail::Clock clock(watch, pairs);
  std::map<std::int64_t, std::vector<double>> lse;
  for (const std::int64_t h : heads) lse[h] = probe_detail::require_lse(*state_, {request.b, h}, rows, clock);
  probe_detail::with_real(*state_, [&](auto real) {
    using Tiles = MappedWeights<decltype(real)>;
    probe_detail::add_tiles(
        sums, state_->threads, clock, [&] { return Tiles(problem, state_->target); },
        [&](Tiles& tiles, std::int64_t h, const probe_detail::BlockRange& queries) {
          tiles.set_queries({request.b, h}, queries.begin, queries.end);
          tiles.set_lse(std::span(lse.at(h)).subspan(static_cast<std::size_t>(queries.begin - rows.begin)));
        });
  });
  clock.finish();
  return sums.finished();
}

}  // namespace qkv
