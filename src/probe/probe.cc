#include "qkv/probe.h"

#include <fmt/format.h>

#include <array>

#include "attention/validate.h"
#include "kernels/targets.h"
#include "probe/probe_places.h"
#include "probe/probe_state.h"

namespace qkv {
namespace {

using probe_detail::BlockRange;
using probe_detail::Clock;
using probe_detail::WeightTiles;

void check_lse(const TensorView& lse, const MaskShape& shape) {
  const Shape expected{shape.B, shape.H, shape.Tq};
  if (lse.shape() != expected) {
    throw InvalidArgument("Probe", "lse", expected.to_string() + ", [B, Hq, Tq]", lse.shape().to_string());
  }
  if (lse.dtype() != DType::f32 && lse.dtype() != DType::f64) {
    throw InvalidArgument("Probe", "lse", "f32 or f64", name_of(lse.dtype()));
  }
}

void require_finished(bool finished) {
  if (!finished) throw Cancelled("the walk over the tiles was stopped");
}

}  // namespace

namespace probe_detail {

State::State(kernels::Problem checked, std::optional<TensorView> given, const AttentionOptions& options)
    : problem(std::move(checked)),
      shape(problem.shape),
      lse(std::move(given)),
      threads(options.threads),
      target(kernels::cpu::find_target(kernels::target_for("Probe", problem.q.dtype(), options.target))) {
  if (lse) lse_rows.emplace(problem, *lse);
}

namespace {

// Some of the queries: q [B, H, Tq, D], lse [B, H, Tq].
TensorView of_queries(const TensorView& x, const QueryRange& queries) {
  constexpr int kQueryAxis = 2;
  const TensorView first = x.slice(kQueryAxis, queries.begin, queries.end);
  Shape shape = first.shape();
  Strides strides = first.strides();
  shape[kQueryAxis] = (shape[kQueryAxis] + queries.step - 1) / queries.step;
  strides[kQueryAxis] *= queries.step;
  return {first.data(), first.dtype(), shape, strides};
}

kernels::Problem of_queries(kernels::Problem problem, const QueryRange& queries) {
  const MaskShape& shape = problem.shape;
  const MatrixWindow part = {.Tq = shape.Tq, .Tk = shape.Tk, .first_i = queries.begin, .step_i = queries.step};
  problem.q = of_queries(problem.q, queries);
  problem.mask = within(problem.mask, part);
  problem.bias = within(problem.bias, part);
  problem.window.first_i = problem.window.query(queries.begin);
  problem.window.step_i *= queries.step;
  problem.shape.Tq = problem.q.dim(2);
  return problem;
}

}  // namespace

State::State(const State& whole, const QueryRange& queries)
    : problem(of_queries(whole.problem, queries)), shape(problem.shape), threads(whole.threads), target(whole.target) {
  if (whole.lse) lse_rows.emplace(problem, lse.emplace(of_queries(*whole.lse, queries)));
  const std::scoped_lock lock(whole.mutex);
  for (const auto& [head, known] : whole.known_lse) {
    KnownLse& own = known_lse.emplace(head, shape.Tq).first->second;
    for (std::int64_t n = 0; n < shape.Tq; ++n) {
      const auto from = static_cast<std::size_t>(queries.begin + n * queries.step);
      own.rows[static_cast<std::size_t>(n)] = known.rows[from];
      own.is_known[static_cast<std::size_t>(n)] = known.is_known[from];
    }
  }
}

void State::require_head(std::string_view function, const HeadPlace& head) const { check_head(function, head, shape); }

std::vector<char> State::find_lse(const HeadPlace& head, const BlockRange& queries, std::span<double> rows) const {
  std::vector<char> is_known(rows.size());
  const std::scoped_lock lock(mutex);
  const auto found = known_lse.find({head.b, head.h});
  if (found == known_lse.end()) return is_known;
  std::copy_n(found->second.rows.begin() + queries.begin, rows.size(), rows.begin());
  std::copy_n(found->second.is_known.begin() + queries.begin, rows.size(), is_known.begin());
  return is_known;
}

void State::keep_lse(const HeadPlace& head, const BlockRange& queries, std::span<const double> rows) const {
  const std::scoped_lock lock(mutex);
  KnownLse& known = known_lse.try_emplace({head.b, head.h}, shape.Tq).first->second;
  std::ranges::copy(rows, known.rows.begin() + queries.begin);
  std::fill_n(known.is_known.begin() + queries.begin, rows.size(), char{1});
}

bool Clock::advance(std::int64_t pairs) {
  if (!watch_) return true;
  const std::scoped_lock lock(mutex_);
  progress_.done += pairs;
  if (!stopped() && watch_(progress_) == Proceed::stop) stopped_.store(true, std::memory_order_relaxed);
  return !stopped();
}

void Clock::finish() const { require_finished(!stopped()); }

std::int64_t count_pairs(const kernels::Problem& problem, const HeadPlace& head, const BlockRange& range,
                         const KeyRange& keys) {
  const MaskShape& shape = problem.shape;
  if (shape.Tk == 0) return 0;
  std::int64_t pairs = 0;
  each_block(range, [&](const BlockRange& queries) {
    const Tile tile = {head.b, head.h, queries.begin, queries.end, 0, shape.Tk};
    pairs += (queries.end - queries.begin) * length(common(problem.mask.hull(tile, shape), keys));
    return true;
  });
  return pairs;
}

namespace {

// Calls body(block) for the blocks with a row that is not known.
template <class Body>
void each_unknown_block(const BlockRange& range, const std::vector<char>& is_known, const Body& body) {
  each_block(range, [&](const BlockRange& queries) {
    const auto begin = is_known.begin() + (queries.begin - range.begin);
    if (std::find(begin, begin + (queries.end - queries.begin), 0) != begin + (queries.end - queries.begin)) {
      body(queries);
    }
    return true;
  });
}

template <class Real>
void read_or_sum(const State& state, WeightTiles<Real>& tiles, std::int64_t i_begin, std::span<double> lse) {
  if (state.lse) {
    tiles.read_lse(*state.lse_rows, i_begin, lse);
  } else {
    tiles.log_sum_exp(lse);
  }
}

}  // namespace

std::int64_t lse_pairs(const State& state, const HeadPlace& head, const BlockRange& queries) {
  if (state.lse) return 0;
  std::vector<double> rows(static_cast<std::size_t>(queries.end - queries.begin));
  std::int64_t pairs = 0;
  each_unknown_block(queries, state.find_lse(head, queries, rows), [&](const BlockRange& block) {
    pairs += count_pairs(state.problem, head, block, {0, state.shape.Tk});
  });
  return pairs;
}

std::vector<double> read_lse(const State& state, const HeadPlace& head, const BlockRange& queries, Clock& clock) {
  std::vector<double> rows(static_cast<std::size_t>(queries.end - queries.begin));
  const std::vector<char> is_known = state.find_lse(head, queries, rows);
  std::vector<BlockRange> unknown;
  each_unknown_block(queries, is_known, [&](const BlockRange& block) { unknown.push_back(block); });
  if (unknown.empty()) return rows;
  with_real(state, [&](auto real) {
    run_tasks(state.threads, clock, std::ssize(unknown), [&](std::int64_t task) {
      const BlockRange& block = unknown[static_cast<std::size_t>(task)];
      WeightTiles<decltype(real)> tiles(state.problem, state.target);
      tiles.set_queries(head, block.begin, block.end);
      read_or_sum(state, tiles, block.begin,
                  std::span(rows).subspan(static_cast<std::size_t>(block.begin - queries.begin),
                                          static_cast<std::size_t>(block.end - block.begin)));
      static_cast<void>(clock.advance(state.lse ? 0 : tiles.pairs()));
    });
  });
  clock.finish();
  return rows;
}

std::vector<double> require_lse(const State& state, const HeadPlace& head, const BlockRange& queries, Clock& clock) {
  std::vector<double> rows = read_lse(state, head, queries, clock);
  state.keep_lse(head, queries, rows);
  return rows;
}

namespace {

// Writes the rows of a block at a stage into `result`, whose first row is query i_begin.
template <class Real>
void write_block(WeightTiles<Real>& tiles, const Tile& wanted, Stage stage, std::int64_t first_row, Tensor& result) {
  const std::int64_t columns = wanted.j_end - wanted.j_begin;
  const std::span<Real> values = result.values<Real>();
  for (std::int64_t j = wanted.j_begin; j < wanted.j_end; j += kernels::kTile) {
    const auto& tile = tiles.stage(stage, {j, std::min(j + kernels::kTile, wanted.j_end)});
    for (std::int64_t n = 0; n < tiles.queries(); ++n) {
      for (std::int64_t c = 0; c < tiles.keys(); ++c) {
        values[static_cast<std::size_t>((first_row + n) * columns + j - wanted.j_begin + c)] =
            tile[static_cast<std::size_t>(c * kernels::kTile + n)];
      }
    }
  }
}

}  // namespace
}  // namespace probe_detail

Probe::Probe(const TensorView& q, const TensorView& k, const AttentionOptions& options, std::optional<TensorView> lse) {
  kernels::Problem problem = validated("Probe", q, k, options);
  if (lse) check_lse(*lse, problem.shape);
  state_ = std::make_unique<const probe_detail::State>(std::move(problem), std::move(lse), options);
}

Probe::Probe(Probe&&) noexcept = default;
Probe& Probe::operator=(Probe&&) noexcept = default;
Probe::~Probe() = default;

Probe::Probe(std::unique_ptr<const probe_detail::State> state) : state_(std::move(state)) {}

const MaskShape& Probe::shape() const noexcept { return state_->shape; }

Probe Probe::of_queries(const QueryRange& queries) const {
  probe_detail::check_queries("Probe::of_queries", queries, shape());
  return Probe(std::make_unique<const probe_detail::State>(*state_, queries));
}

Tensor Probe::tile(const Tile& tile, Stage stage) const {
  const HeadPlace head = {tile.b, tile.h};
  probe_detail::check_tile("Probe::tile", tile, shape());
  const Shape extents{tile.i_end - tile.i_begin, tile.j_end - tile.j_begin};
  std::vector<double> lse;
  if (stage >= Stage::weights) {
    const ProbeWatch nobody;
    Clock clock(nobody, 0);
    const BlockRange rows = {tile.i_begin, tile.i_end};
    // A caller may change the lse that was given from one row to the next.
    lse = state_->lse ? probe_detail::read_lse(*state_, head, rows, clock)
                      : probe_detail::require_lse(*state_, head, rows, clock);
  }
  return probe_detail::with_real(*state_, [&](auto real) {
    using Real = decltype(real);
    Tensor result(dtype_of_v<Real>, extents);
    WeightTiles<Real> tiles(state_->problem, state_->target);
    probe_detail::each_block({tile.i_begin, tile.i_end}, [&](const BlockRange& queries) {
      tiles.set_queries(head, queries.begin, queries.end);
      const std::int64_t first_row = queries.begin - tile.i_begin;
      if (!lse.empty()) tiles.set_lse(std::span(lse).subspan(static_cast<std::size_t>(first_row)));
      probe_detail::write_block(tiles, tile, stage, first_row, result);
      return true;
    });
    return result;
  });
}

Tensor Probe::row(HeadPlace head, std::int64_t i, Stage stage) const {
  const auto [b, h] = head;
  probe_detail::check_row("Probe::row", head, i, shape());
  return this->tile({b, h, i, i + 1, 0, shape().Tk}, stage).reshaped({shape().Tk});
}

Tensor Probe::lse(HeadPlace head, const ProbeWatch& watch) const {
  state_->require_head("Probe::lse", head);
  if (state_->lse) return {state_->lse->select(0, head.b).select(0, head.h), DType::f64};
  const BlockRange all = {0, shape().Tq};
  Clock clock(watch, probe_detail::lse_pairs(*state_, head, all));
  return {probe_detail::require_lse(*state_, head, all, clock), {shape().Tq}};
}

}  // namespace qkv
