#include <array>
#include <vector>

#include "probe/probe_state.h"

namespace qkv {
namespace {

using kernels::kTile;

// The sum of a tile's row over its queries: sixteen sums side by side, then in pairs.
template <class Real>
double sum_of_row(const Real* row, std::int64_t queries) {
  constexpr std::int64_t kSums = 16;
  std::array<Real, kSums> sums{};
  std::int64_t n = 0;
  for (; n + kSums <= queries; n += kSums) {
    for (std::size_t s = 0; s < kSums; ++s) sums[s] += row[static_cast<std::size_t>(n) + s];
  }
  for (std::size_t s = 0; n < queries; ++n, ++s) sums[s] += row[n];
  for (std::size_t width = kSums / 2; width > 0; width /= 2) {
    for (std::size_t s = 0; s < width; ++s) sums[s] += sums[s + width];
  }
  return static_cast<double>(sums[0]);
}

}  // namespace

Tensor Probe::key_totals(HeadPlace head, const ProbeWatch& watch) const {
  state_->require_head("Probe::key_totals", head);
  const kernels::Problem& problem = state_->problem;
  const auto [B, H, Tq, Tk] = shape();
  const probe_detail::BlockRange all = {0, Tq};
  probe_detail::Clock clock(
      watch, probe_detail::count_pairs(problem, head, all, {0, Tk}) + probe_detail::lse_pairs(*state_, head, all));
  const std::vector<double> lse = probe_detail::require_lse(*state_, head, all, clock);
  // The groups do not depend on the number of threads: group g sums the blocks g, g + kGroups, … in this order.
  constexpr std::int64_t kGroups = 32;
  const std::int64_t blocks = (Tq + kTile - 1) / kTile;
  std::vector<std::vector<double>> partial(static_cast<std::size_t>(std::min(kGroups, blocks)));
  probe_detail::with_real(*state_, [&](auto real) {
    probe_detail::run_tasks(state_->threads, clock, static_cast<std::int64_t>(partial.size()), [&](std::int64_t group) {
      std::vector<double>& sums = partial[static_cast<std::size_t>(group)];
      sums.resize(static_cast<std::size_t>(Tk));
      probe_detail::WeightTiles<decltype(real)> tiles(problem, state_->target);
      for (std::int64_t block = group; block < blocks; block += kGroups) {
        tiles.set_queries(head, block * kTile, std::min((block + 1) * kTile, Tq));
        tiles.set_lse(std::span(lse).subspan(static_cast<std::size_t>(block * kTile)));
        tiles.each_weighed([&](const KeyRange& keys) {
          for (std::int64_t c = 0; c < tiles.keys(); ++c) {
            sums[static_cast<std::size_t>(keys.begin + c)] +=
                sum_of_row(tiles.weights().data() + c * kTile, tiles.queries());
          }
        });
        if (!clock.advance(tiles.pairs())) return;
      }
    });
  });
  clock.finish();
  Tensor totals(DType::f64, {Tk});
  const std::span<double> values = totals.values<double>();
  for (const std::vector<double>& sums : partial) {
    for (std::size_t j = 0; j < values.size(); ++j) values[j] += sums[j];
  }
  return totals;
}

}  // namespace qkv
