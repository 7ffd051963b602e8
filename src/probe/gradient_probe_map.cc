#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/gradient_tiles.h"
#include "probe/gradient_probe_state.h"
#include "probe/map_cells.h"

namespace qkv {
namespace {

// The magnitudes of the gradients with respect to a stage, for a map.
template <class Real>
class MappedGradients {
 public:
  using Number = Real;

  MappedGradients(const kernels::BackwardProblem& problem, const kernels::cpu::Target* target,
                  const kernels::LseRows& lse, Stage stage)
      : tiles_(problem, target, lse), stage_(stage) {}

  void set_queries(const HeadPlace& head, const probe_detail::BlockRange& queries) {
    tiles_.set_queries(head.b, head.h, queries.begin, queries.end);
  }

  [[nodiscard]] std::int64_t queries() const { return tiles_.queries(); }
  [[nodiscard]] KeyRange seen() const { return tiles_.seen(); }

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
  kernels::ScoreTile<Real> values_{};
};

}  // namespace

CellMaps GradientProbe::map(const MapRequest& request, Stage stage, const ProbeWatch& watch) const {
  probe_detail::CellSums sums("GradientProbe::map", shape(), request);
  probe_detail::Clock clock(watch, sums.pairs(state_->problem.problem));
  const auto walk = [&](auto real) {
    using Tiles = MappedGradients<decltype(real)>;
    probe_detail::add_tiles(
        sums, state_->threads, clock, [&] { return Tiles(state_->problem, state_->target, state_->lse, stage); },
        [&](Tiles& tiles, std::int64_t h, const probe_detail::BlockRange& queries) {
          tiles.set_queries({request.b, h}, queries);
        });
  };
  if (state_->target == nullptr) {
    walk(double{});
  } else {
    walk(float{});
  }
  clock.finish();
  return sums.finished();
}

}  // namespace qkv
