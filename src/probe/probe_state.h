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

struct State {
  using Rows = std::vector<double>;

  kernels::Problem problem;
  std::optional<TensorView> lse;
  std::optional<kernels::LseRows> lse_rows;  // that lse
  std::optional<int> threads;
  const kernels::cpu::Target* target;  // null: the reference, where scores are in f64
  mutable std::mutex mutex;
  mutable std::map<std::pair<std::int64_t, std::int64_t>, std::shared_ptr<const Rows>> known_lse;

  State(kernels::Problem checked, std::optional<TensorView> given, const AttentionOptions& options);

  [[nodiscard]] bool in_f64() const { return target == nullptr; }
  void require_head(std::string_view function, const HeadPlace& head) const;
  /// The lse of all rows of a head, if it has been computed.
  [[nodiscard]] std::shared_ptr<const Rows> find_lse(const HeadPlace& head) const;
  void keep_lse(const HeadPlace& head, std::shared_ptr<const Rows> rows) const;
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

/// Half-open range of queries.
struct QueryRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
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
void each_block(const QueryRange& queries, const Body& body) {
  for (std::int64_t i = queries.begin; i < queries.end; i += kernels::kTile) {
    if (!body(QueryRange{i, std::min(i + kernels::kTile, queries.end)})) return;
  }
}

/// The cost of a pass by each_block(): pairs of a head's queries with the keys in the mask's hulls.
[[nodiscard]] std::int64_t count_pairs(const kernels::Problem& problem, const HeadPlace& head, const QueryRange& range);

/// A pass over all queries of a head. Each task owns some rows: body(tiles, i) is called for blocks of at most kTile
/// queries, with `tiles` set to them; i is the first. It returns the pairs that the clock is to count.
template <class Body>
void each_block_of_queries(const State& state, const HeadPlace& head, Clock& clock, const Body& body) {
  constexpr std::int64_t kQueriesOfTask = 4 * kernels::kTile;
  const std::int64_t Tq = state.problem.shape.Tq;
  with_real(state, [&](auto real) {
    run_tasks(state.threads, clock, (Tq + kQueriesOfTask - 1) / kQueriesOfTask, [&](std::int64_t task) {
      WeightTiles<decltype(real)> tiles(state.problem, state.target);
      const std::int64_t begin = task * kQueriesOfTask;
      each_block({begin, std::min(begin + kQueriesOfTask, Tq)}, [&](const QueryRange& queries) {
        tiles.set_queries(head, queries.begin, queries.end);
        return clock.advance(body(tiles, queries.begin));
      });
    });
  });
  clock.finish();
}

/// The head's lse, computed if it is not known yet; `clock` counts its pairs in that case. A given lse
/// is read by LseRows.
[[nodiscard]] std::shared_ptr<const std::vector<double>> require_lse(const State& state, const HeadPlace& head,
                                                                     Clock& clock);

/// The pairs that require_lse() will add to a clock.
[[nodiscard]] std::int64_t lse_pairs(const State& state, const HeadPlace& head);

/// A pass over all weights of a head, after its lse: body(tiles, lse, i) is called as by each_block_of_queries().
template <class Body>
void each_block_of_head(const State& state, const HeadPlace& head, const ProbeWatch& watch, const Body& body) {
  Clock clock(watch, count_pairs(state.problem, head, {0, state.problem.shape.Tq}) + lse_pairs(state, head));
  const auto lse = require_lse(state, head, clock);
  each_block_of_queries(state, head, clock, [&](auto& tiles, std::int64_t i) {
    const auto rows = std::span(*lse).subspan(static_cast<std::size_t>(i));
    tiles.set_lse(rows);
    body(tiles, rows, i);
    return tiles.pairs();
  });
}

}  // namespace qkv::probe_detail
