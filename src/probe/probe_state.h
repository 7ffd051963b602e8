// The state of a Probe, and its passes over the tiles of a head.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "kernels/problem.h"
#include "probe/weight_tiles.h"
#include "qkv/probe.h"
#include "qkv/threads.h"

namespace qkv::probe_detail {

/// The lse of some rows of a head.
struct KnownLse {
  explicit KnownLse(std::int64_t Tq) : rows(static_cast<std::size_t>(Tq)), is_known(static_cast<std::size_t>(Tq)) {}

  std::vector<double> rows;
  std::vector<char> is_known;
};

/// Half-open range of a probe's queries.
struct BlockRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct State {
  kernels::Problem problem;
  MaskShape shape;  // with the queries of q, which may be fewer than the problem's
  std::optional<TensorView> lse;
  std::optional<kernels::LseRows> lse_rows;  // that lse
  std::optional<int> threads;
  const kernels::cpu::Target* target;  // null: the reference, where scores are in f64
  mutable std::mutex mutex;
  mutable std::map<std::pair<std::int64_t, std::int64_t>, KnownLse> known_lse;  // by batch entry and head

  State(kernels::Problem checked, std::optional<TensorView> given, const AttentionOptions& options);
  /// Of some of the queries.
  State(const State& whole, const QueryRange& queries);

  [[nodiscard]] bool in_f64() const { return target == nullptr; }
  void require_head(std::string_view function, const HeadPlace& head) const;
  /// Copies what is known of the rows of these queries; true for each that is.
  [[nodiscard]] std::vector<char> find_lse(const HeadPlace& head, const BlockRange& queries,
                                           std::span<double> rows) const;
  void keep_lse(const HeadPlace& head, const BlockRange& queries, std::span<const double> rows) const;
};

/// Counts the pairs that a pass has done, calls its watch, and knows whether that returned stop.
class Clock {
 public:
  Clock(const ProbeWatch& watch, std::int64_t total) : watch_(watch), progress_{.done = 0, .total = total} {}

  /// False once the pass is to end. Safe from any thread.
  [[nodiscard]] bool advance(std::int64_t pairs);
  [[nodiscard]] bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  /// Throws Cancelled if the watch returned stop.
  void finish() const;

 private:
  const ProbeWatch& watch_;
  std::mutex mutex_;
  ProbeProgress progress_;
  std::atomic<bool> stopped_ = false;
};

/// Calls body(task) for each task from 0 on until the clock has stopped, on qkv::threads() threads if not said.
template <class Body>
void run_tasks(std::optional<int> count, const Clock& clock, std::int64_t tasks, const Body& body) {
  core::parallel_for(count.value_or(threads()), tasks, [&](int, std::int64_t task) {
    if (!clock.stopped()) body(task);
  });
}

/// Calls body(float{}) or body(double{}): the type in which scores are computed.
template <class Body>
decltype(auto) with_real(const State& state, const Body& body) {
  if (state.in_f64()) return body(double{});
  return body(float{});
}

/// Blocks of at most kTile queries of a range, in order; ends early when body() returns false.
template <class Body>
void each_block(const BlockRange& queries, const Body& body) {
  for (std::int64_t i = queries.begin; i < queries.end; i += kernels::kTile) {
    if (!body(BlockRange{i, std::min(i + kernels::kTile, queries.end)})) return;
  }
}

/// The cost of a pass by each_block(): pairs of a head's queries with those of the keys that lie in the mask's hulls.
[[nodiscard]] std::int64_t count_pairs(const kernels::Problem& problem, const HeadPlace& head, const BlockRange& range,
                                       const KeyRange& keys);

/// A pass over some queries of a head. Each task owns some rows: body(tiles, i) is called for blocks of at most kTile
/// queries, with `tiles` set to them; i is the first. It returns the pairs that the clock is to count.
template <class Body>
void each_block_of_queries(const State& state, const HeadPlace& head, const BlockRange& range, Clock& clock,
                           const Body& body) {
  constexpr std::int64_t kQueriesOfTask = 4 * kernels::kTile;
  const std::int64_t tasks = (range.end - range.begin + kQueriesOfTask - 1) / kQueriesOfTask;
  with_real(state, [&](auto real) {
    run_tasks(state.threads, clock, tasks, [&](std::int64_t task) {
      WeightTiles<decltype(real)> tiles(state.problem, state.target);
      const std::int64_t begin = range.begin + task * kQueriesOfTask;
      each_block({begin, std::min(begin + kQueriesOfTask, range.end)}, [&](const BlockRange& queries) {
        tiles.set_queries(head, queries.begin, queries.end);
        return clock.advance(body(tiles, queries.begin));
      });
    });
  });
  clock.finish();
}

/// The lse of a range of a head's rows. Those that are not known yet are computed; `clock` counts their pairs. A given
/// lse is read by LseRows.
[[nodiscard]] std::vector<double> read_lse(const State& state, const HeadPlace& head, const BlockRange& queries,
                                           Clock& clock);
/// The same, and keeps them.
[[nodiscard]] std::vector<double> require_lse(const State& state, const HeadPlace& head, const BlockRange& queries,
                                              Clock& clock);

/// The pairs that require_lse() will add to a clock.
[[nodiscard]] std::int64_t lse_pairs(const State& state, const HeadPlace& head, const BlockRange& queries);

/// A pass over all weights of a head, after its lse: body(tiles, lse, i) is called as by each_block_of_queries().
template <class Body>
void each_block_of_head(const State& state, const HeadPlace& head, const ProbeWatch& watch, const Body& body) {
  const BlockRange all = {0, state.shape.Tq};
  Clock clock(watch, count_pairs(state.problem, head, all, {0, state.shape.Tk}) + lse_pairs(state, head, all));
  const std::vector<double> lse = require_lse(state, head, all, clock);
  each_block_of_queries(state, head, all, clock, [&](auto& tiles, std::int64_t i) {
    const auto rows = std::span(lse).subspan(static_cast<std::size_t>(i));
    tiles.set_lse(rows);
    body(tiles, rows, i);
    return tiles.pairs();
  });
}

}  // namespace qkv::probe_detail
