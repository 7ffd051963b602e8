#include "qkv/probe.h"

#include <fmt/format.h>

#include <array>

#include "attention/validate.h"
#include "kernels/targets.h"
#include "probe/probe_places.h"
#include "probe/probe_state.h"

namespace qkv {
namespace {

using probe_detail::Clock;
using probe_detail::QueryRange;
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
      lse(std::move(given)),
      threads(options.threads),
      target(kernels::cpu::find_target(kernels::target_for("Probe", problem.q.dtype(), options.target))) {
  if (lse) lse_rows.emplace(problem, *lse);
}

void State::require_head(std::string_view function, const HeadPlace& head) const {
  check_head(function, head, problem.shape);
}

std::shared_ptr<const State::Rows> State::find_lse(const HeadPlace& head) const {
  const std::scoped_lock lock(mutex);
  const auto found = known_lse.find({head.b, head.h});
  return found == known_lse.end() ? nullptr : found->second;
}

void State::keep_lse(const HeadPlace& head, std::shared_ptr<const Rows> rows) const {
  const std::scoped_lock lock(mutex);
  known_lse[{head.b, head.h}] = std::move(rows);
}

bool Clock::advance(std::int64_t pairs) {
  if (!watch_) return true;
  const std::scoped_lock lock(mutex_);
  progress_.done += pairs;
  if (!stopped() && watch_(progress_) == Proceed::stop) stopped_.store(true, std::memory_order_relaxed);
  return !stopped();
}

void Clock::finish() const { require_finished(!stopped()); }

std::int64_t count_pairs(const kernels::Problem& problem, const HeadPlace& head, const QueryRange& range) {
  const MaskShape& shape = problem.shape;
  if (shape.Tk == 0) return 0;
  std::int64_t pairs = 0;
  each_block(range, [&](const QueryRange& queries) {
    const Tile tile = {head.b, head.h, queries.begin, queries.end, 0, shape.Tk};
    const KeyRange seen = problem.mask.hull(tile, shape);
    pairs += (queries.end - queries.begin) * std::max<std::int64_t>(0, seen.end - seen.begin);
    return true;
  });
  return pairs;
}

std::int64_t lse_pairs(const State& state, const HeadPlace& head) {
  return state.lse || state.find_lse(head) ? 0 : count_pairs(state.problem, head, {0, state.problem.shape.Tq});
}

namespace {

template <class Real>
void read_or_sum(const State& state, WeightTiles<Real>& tiles, std::int64_t i_begin, std::span<double> lse) {
  if (state.lse) {
    tiles.read_lse(*state.lse_rows, i_begin, lse);
  } else {
    tiles.log_sum_exp(lse);
  }
}

}  // namespace

std::shared_ptr<const std::vector<double>> require_lse(const State& state, const HeadPlace& head, Clock& clock) {
  if (auto known = state.find_lse(head)) return known;
  auto rows = std::make_shared<std::vector<double>>(static_cast<std::size_t>(state.problem.shape.Tq));
  each_block_of_queries(state, head, clock, [&](auto& tiles, std::int64_t i) {
    const auto lse = std::span(*rows).subspan(static_cast<std::size_t>(i), static_cast<std::size_t>(tiles.queries()));
    read_or_sum(state, tiles, i, lse);
    return state.lse ? 0 : tiles.pairs();
  });
  state.keep_lse(head, rows);
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

const MaskShape& Probe::shape() const noexcept { return state_->problem.shape; }

Tensor Probe::tile(const Tile& tile, Stage stage) const {
  const HeadPlace head = {tile.b, tile.h};
  probe_detail::check_tile("Probe::tile", tile, shape());
  const Shape extents{tile.i_end - tile.i_begin, tile.j_end - tile.j_begin};
  const auto known = stage >= Stage::weights ? state_->find_lse(head) : nullptr;
  return probe_detail::with_real(*state_, [&](auto real) {
    using Real = decltype(real);
    Tensor result(dtype_of_v<Real>, extents);
    WeightTiles<Real> tiles(state_->problem, state_->target);
    std::array<double, kernels::kTile> lse{};
    probe_detail::each_block({tile.i_begin, tile.i_end}, [&](const QueryRange& queries) {
      tiles.set_queries(head, queries.begin, queries.end);
      if (known) {
        tiles.set_lse(std::span(*known).subspan(static_cast<std::size_t>(queries.begin)));
      } else if (stage >= Stage::weights) {
        probe_detail::read_or_sum(*state_, tiles, queries.begin,
                                  std::span(lse).first(static_cast<std::size_t>(tiles.queries())));
        tiles.set_lse(lse);
      }
      probe_detail::write_block(tiles, tile, stage, queries.begin - tile.i_begin, result);
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
  Clock clock(watch, probe_detail::lse_pairs(*state_, head));
  return {*probe_detail::require_lse(*state_, head, clock), {shape().Tq}};
}

}  // namespace qkv
