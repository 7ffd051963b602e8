#include "kernels/cpu/row_sums.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/parallel.h"
#include "kernels/cpu/backward_task.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/rows.h"
#include "kernels/lse_rounding.h"

namespace qkv::kernels::cpu {
namespace {

constexpr std::int64_t kWidest = 16;  // lanes of a vector

RowLse row_lse(const Forward& call, const SummedRow& row) {
  return {.given = row.given, .terms = row.terms, .D = call.D};
}

}  // namespace

bool needs_sum(const Forward& call, const SummedRow& row) { return !is_fine_enough(row_lse(call, row)); }

void set_scale(const Settings& settings, const SummedRow& row, const Segment& segment, std::int64_t h,
               std::int64_t lane, RowSums& sums) {
  const Forward& call = *settings.call;
  const double top = row.maximum * settings.to_nats;
  const double sink = call.problem->sinks.empty() ? -INFINITY : call.problem->sinks[static_cast<std::size_t>(h)];
  const double highest = std::max(top, sink);
  const double share = std::exp(top - highest);
  const double total = row.sum * share + (sink == -INFINITY ? 0 : std::exp(sink - highest));
  if (!std::isfinite(row.maximum)) {  // sees nothing, or NaN
    sums.shift[lane] = row.given == -INFINITY ? 0 : static_cast<float>(row.given / settings.to_nats);
    sums.factor[lane] = 1;
    return;
  }
  RowLse given = row_lse(call, row);
  given.Tk = segment.shape.Tk;
  given.of_more_keys = segment.window.Tk > segment.shape.Tk;
  const bool own = is_of_own_keys(given, highest + std::log(total));
  const double factor = own ? share / total : std::exp(top - row.given);
  sums.shift[lane] = row.maximum;
  sums.factor[lane] = factor > 1 ? 1 : static_cast<float>(factor);
}

BlockSums::BlockSums(const Backward& call) : call_(call) {
  for (std::size_t n = 0; n < call.segments.size(); ++n) count_ += call.forward.Hk * blocks_of(n);
}

std::int64_t BlockSums::blocks_of(std::size_t segment) const {
  return LaneBlocks(call_.segments[segment].forward.shape.Tq, call_.forward.group()).count();
}

std::int64_t BlockSums::heads() const { return static_cast<std::int64_t>(call_.segments.size()) * call_.forward.Hk; }

std::int64_t BlockSums::list_bytes() const {
  return round_up(static_cast<std::int64_t>(call_.segments.size() * sizeof(std::int64_t)), kTile);
}

float* BlockSums::largest_key(std::int64_t head) const {
  return largest_keys_ + head * round_up(call_.forward.D, kWidest);
}

std::size_t BlockSums::bytes() const {
  const auto floats = heads() * round_up(call_.forward.D, kWidest);
  return static_cast<std::size_t>(list_bytes() + count_ * static_cast<std::int64_t>(sizeof(RowSums)) +
                                  round_up(floats * static_cast<std::int64_t>(sizeof(float)), kTile));
}

void BlockSums::keep_in(std::byte* place) {
  const std::size_t segments = call_.segments.size();
  first_ = {reinterpret_cast<std::int64_t*>(place), segments};
  blocks_ = reinterpret_cast<RowSums*>(place + list_bytes());
  largest_keys_ = reinterpret_cast<float*>(blocks_ + count_);
  std::int64_t first = 0;
  for (std::size_t n = 0; n < segments; ++n) {
    std::construct_at(&first_[n], first);
    first += call_.forward.Hk * blocks_of(n);
  }
}

BlockSums::Place BlockSums::place_of(std::int64_t block) const {
  const auto segment =
      static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), block) - first_.begin() - 1);
  const std::int64_t own = block - first_[segment];
  return {.segment = segment, .key_head = own / blocks_of(segment), .block = own % blocks_of(segment)};
}

void BlockSums::compute(const Target& target, const Settings& settings, int threads, std::byte* scratch,
                        std::size_t scratch_bytes) {
  const std::int64_t Hk = call_.forward.Hk;
  const auto task_of = [&](std::size_t segment, std::int64_t key_head) {
    return BackwardTask{.segment = &call_.segments[segment], .key_head = key_head};
  };
  core::parallel_for(threads, heads(), [&](int, std::int64_t n) {
    target.backward.largest_key(settings, task_of(static_cast<std::size_t>(n / Hk), n % Hk), largest_key(n));
  });
  core::parallel_for(threads, count_, [&](int worker, std::int64_t n) {
    const Place place = place_of(n);
    const std::int64_t head = static_cast<std::int64_t>(place.segment) * Hk + place.key_head;
    target.backward.sum_rows(settings, task_of(place.segment, place.key_head), place.block, largest_key(head),
                             blocks_[n], scratch + scratch_bytes * static_cast<std::size_t>(worker));
  });
}

}  // namespace qkv::kernels::cpu
