#include "kernels/lse_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/exact_math.h"
#include "core/parallel.h"
#include "kernels/lse_rounding.h"
#include "kernels/reference/softmax.h"

namespace qkv::kernels {
namespace {

// For each query, the maximum and the sum of exp(score - maximum) of the scores so far.
template <class Real>
struct Running {
  static constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

  WeightScale<Real> scale;  // shift: the maximum
  std::array<double, kTile> sum{};

  Running() {
    scale.shift.fill(-kInfinity);
    scale.factor.fill(1);
  }

  void raise(const ScoreTile<Real>& scores, std::int64_t keys) {
    std::array<Real, kTile> raised = scale.shift;
    for (std::int64_t c = 0; c < keys; ++c) {
      const Real* row = scores.data() + c * kTile;
      for (std::size_t n = 0; n < kTile; ++n) raised[n] = row[n] > raised[n] ? row[n] : raised[n];
    }
    for (std::size_t n = 0; n < kTile; ++n) {
      // A maximum of +inf makes the row NaN, too.
      if (raised[n] != scale.shift[n]) sum[n] *= core::exp(static_cast<double>(scale.shift[n] - raised[n]));
    }
    scale.shift = raised;
  }

  void add(const ScoreTile<Real>& weights, std::int64_t keys) {
    std::array<Real, kTile> part{};
    for (std::int64_t c = 0; c < keys; ++c) {
      const Real* row = weights.data() + c * kTile;
      for (std::size_t n = 0; n < kTile; ++n) part[n] += row[n];
    }
    for (std::size_t n = 0; n < kTile; ++n) sum[n] += static_cast<double>(part[n]);
  }

  [[nodiscard]] reference::RowSum row(std::size_t n, std::optional<double> sink) const {
    const auto maximum = static_cast<double>(scale.shift[n]);
    if (sum[n] == 0) return {.max = sink.value_or(-std::numeric_limits<double>::infinity()), .sum = 1};
    if (!sink) return {.max = maximum, .sum = sum[n]};
    const double top = std::max(maximum, *sink);
    return {.max = top, .sum = sum[n] * core::exp(maximum - top) + core::exp(*sink - top)};
  }
};

template <class Real>
struct Scratch {
  alignas(64) ScoreTile<Real> masked{};
  alignas(64) ScoreTile<Real> weights{};
};

template <class Real>
Running<Real> running_over(ScoreTiles<Real>& tiles, std::int64_t Tk) {
  const auto scratch = std::make_unique<Scratch<Real>>();
  Running<Real> running;
  const KeyRange seen = tiles.seen();
  for (std::int64_t tile = seen.begin / kTile; tile * kTile < seen.end; ++tile) {
    if (!tiles.set_keys(keys_of_tile(tile, Tk))) continue;
    tiles.scores(Stage::masked, scratch->masked);
    running.raise(scratch->masked, tiles.keys());
    tiles.weigh(running.scale, scratch->masked, scratch->weights);
    running.add(scratch->weights, tiles.keys());
  }
  return running;
}

std::optional<double> sink_of(const Problem& problem, std::int64_t h) {
  return problem.sinks.empty() ? std::nullopt : std::optional<double>(problem.sinks[static_cast<std::size_t>(h)]);
}

}  // namespace

KeyRange keys_of_tile(std::int64_t tile, std::int64_t Tk) { return {tile * kTile, std::min((tile + 1) * kTile, Tk)}; }

template <class Real>
void log_sum_exp(ScoreTiles<Real>& tiles, const Problem& problem, std::int64_t h, std::span<double> lse) {
  const Running<Real> running = running_over(tiles, problem.shape.Tk);
  const std::optional<double> sink = sink_of(problem, h);
  for (std::int64_t n = 0; n < tiles.queries(); ++n) {
    lse[static_cast<std::size_t>(n)] = running.row(static_cast<std::size_t>(n), sink).lse();
  }
}

template <class Real>
void set_scale(ScoreTiles<Real>& tiles, const Problem& problem, std::int64_t h, std::span<const double> lse,
               WeightScale<Real>& scale) {
  const auto rows = lse.first(static_cast<std::size_t>(tiles.queries()));
  for (std::size_t n = 0; n < rows.size(); ++n) scale.set(static_cast<std::int64_t>(n), rows[n]);
  if (std::ranges::none_of(rows, is_coarse<Real>)) return;
  const Running<Real> running = running_over(tiles, problem.shape.Tk);
  const std::optional<double> sink = sink_of(problem, h);
  for (std::size_t n = 0; n < rows.size(); ++n) {
    if (!is_coarse<Real>(rows[n])) continue;
    const reference::RowSum row = running.row(n, sink);
    const bool is_own = std::fabs(row.lse() - rows[n]) <= 0x1p-40 * std::fabs(rows[n]);
    if (!is_own) continue;
    scale.shift[n] = static_cast<Real>(row.max);
    scale.rest[n] = row.max - static_cast<double>(scale.shift[n]) + core::log(row.sum);
    scale.factor[n] = static_cast<Real>(core::exp(-scale.rest[n]));
  }
}

// The largest |k[j, d]| for each d, ignoring NaN. References into a map stay valid.
const std::vector<double>& LseRows::largest_key(std::int64_t b, std::int64_t key_head) const {
  const std::scoped_lock lock(mutex_);
  const auto [place, added] = largest_keys_.try_emplace({b, key_head}, static_cast<std::size_t>(problem_.k.dim(3)));
  if (!added) return place->second;
  std::vector<double> row(place->second.size());
  for (std::int64_t j = 0; j < problem_.k.dim(2); ++j) {
    problem_.k.load_row(std::array{b, key_head, j}, row);
    for (std::size_t d = 0; d < row.size(); ++d) place->second[d] = std::max(place->second[d], std::fabs(row[d]));
  }
  return place->second;
}

template <class Real>
void LseRows::read(ScoreTiles<Real>& tiles, std::int64_t b, std::int64_t h, std::int64_t i_begin,
                   std::span<double> lse) const {
  for (std::size_t n = 0; n < lse.size(); ++n) lse[n] = given_.at({b, h, i_begin + static_cast<std::int64_t>(n)});
  const bool exact = std::is_same_v<Real, double> && given_.dtype() == DType::f64;
  if (exact || kind_ == Kind::settled || lse.empty() || problem_.has_part_of_keys()) return;
  std::vector<RowLse> rows(lse.size());
  std::vector<double> query(static_cast<std::size_t>(problem_.q.dim(3)));
  const std::vector<double>& largest = largest_key(b, h / problem_.group);
  bool fine = true;
  for (std::size_t n = 0; n < lse.size(); ++n) {
    problem_.q.load_row(std::array{b, h, i_begin + static_cast<std::int64_t>(n)}, query);
    double terms = 0;
    for (std::size_t d = 0; d < query.size(); ++d) terms += std::fabs(query[d]) * largest[d];
    rows[n] = {
        .given = lse[n], .terms = std::fabs(problem_.scale) * terms, .D = problem_.q.dim(3), .Tk = problem_.shape.Tk};
    fine = fine && is_fine_enough(rows[n]);
  }
  if (fine) return;
  log_sum_exp(tiles, problem_, h, lse);
  for (std::size_t n = 0; n < lse.size(); ++n) {
    if (!is_of_own_keys(rows[n], lse[n])) lse[n] = rows[n].given;
  }
}

Tensor settled_lse(const Problem& problem, const TensorView& given, const cpu::Target& target, int threads) {
  const LseRows rows(problem, given);
  Tensor settled(DType::f64, given.shape());
  const std::int64_t Tq = given.dim(2);
  const std::int64_t blocks = (Tq + kTile - 1) / kTile;
  const std::int64_t heads = given.dim(1);
  core::parallel_for(threads, given.dim(0) * heads * blocks, [&](int, std::int64_t n) {
    const std::int64_t b = n / blocks / heads;
    const std::int64_t h = n / blocks % heads;
    const KeyRange queries = keys_of_tile(n % blocks, Tq);
    ScoreTiles<float> tiles(problem, &target);
    tiles.set_queries(b, h, queries.begin, queries.end);
    rows.read(tiles, b, h, queries.begin,
              settled.values<double>().subspan(static_cast<std::size_t>((b * heads + h) * Tq + queries.begin),
                                               static_cast<std::size_t>(queries.end - queries.begin)));
  });
  return settled;
}

template void log_sum_exp(ScoreTiles<float>&, const Problem&, std::int64_t, std::span<double>);
template void log_sum_exp(ScoreTiles<double>&, const Problem&, std::int64_t, std::span<double>);
template void set_scale(ScoreTiles<float>&, const Problem&, std::int64_t, std::span<const double>, WeightScale<float>&);
template void set_scale(ScoreTiles<double>&, const Problem&, std::int64_t, std::span<const double>,
                        WeightScale<double>&);
template void LseRows::read(ScoreTiles<float>&, std::int64_t, std::int64_t, std::int64_t, std::span<double>) const;
template void LseRows::read(ScoreTiles<double>&, std::int64_t, std::int64_t, std::int64_t, std::span<double>) const;

}  // namespace qkv::kernels
