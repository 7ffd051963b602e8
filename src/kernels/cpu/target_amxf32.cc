#include <cmath>
#include <cstring>

#include "kernels/cpu/amx_engine.h"
#include "kernels/cpu/beside.h"
#include "kernels/cpu/split_gradients.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/workers.h"

namespace qkv::kernels::cpu {

// f32 in three parts of bf16 on the tile unit; the other types as the target amx.
namespace amx {
namespace {

using Split = Worker<Engine<SplitProducts>>;

// Up to this many queries avx512::kTarget has products of their own.
constexpr std::int64_t kMostVectorLanes = 16;

bool is_split(const Forward& call) {
  if (call.dtype != DType::f32 || !holds(call, DType::f32)) return false;
  return !call.problem->dropout || call.problem->dropout->p <= SplitWeights::kMostDropout;
}

std::int64_t blocks_a_task(const Forward& call) {
  return is_split(call) ? Split::blocks_a_task(call) : amx::kTarget.blocks_a_task(call);
}

std::size_t worker_bytes(const Forward& call) {
  const std::size_t bytes = amx::kTarget.worker_bytes(call);
  const std::size_t own = is_split(call) ? Split::worker_bytes(call) : 0;
  return bytes > own ? bytes : own;
}

template <int kBelow>
bool queries_fit(const TensorView& rows, const Lanes& lanes, std::int64_t width) {
  Splittable<kBelow> numbers;
  for (std::int64_t lane = 0; lane < lanes.count(); ++lane) {
    numbers.see(row_of(rows, lanes, lane, bytes_of(DType::f32)), width);
  }
  return numbers.all();
}

template <int kBelow>
bool keys_fit(const KvRows& rows, std::int64_t begin, std::int64_t end, std::int64_t width) {
  Splittable<kBelow> numbers;
  for (std::int64_t j = begin; j < end; ++j) numbers.see(rows.row(j), width);
  return numbers.all();
}

// Whether the keys and values of a task's columns `seen` can be split.
bool columns_fit(const Settings& settings, const Task& task, KeyRange seen) {
  const Segment& segment = *task.segment;
  const std::int64_t begin = (seen.begin > task.columns.begin ? seen.begin : task.columns.begin) * kTile;
  const std::int64_t last = (seen.end < task.columns.end ? seen.end : task.columns.end) * kTile;
  const std::int64_t end = last < segment.shape.Tk ? last : segment.shape.Tk;
  return keys_fit<kForwardBelow>(segment.k.head(task.key_head), begin, end, settings.call->D) &&
         keys_fit<kForwardBelow>(segment.v.head(task.key_head), begin, end, settings.call->Dv);
}

// Which blocks of a task have queries that can be split, and keys and values between the first and the last that these
// see: of each block by itself, so that its bits do not depend on which others its task has.
void find_fits(const Settings& settings, const Task& task, bool* fits) {
  const LaneBlocks blocks(task.segment->shape.Tq, settings.call->group());
  KeyRange all = {task.columns.end, task.columns.begin};
  for (std::int64_t n = 0; n < task.blocks; ++n) {
    const KeyRange seen = columns_of(*task.segment, blocks.block(task.first_block + n, task.key_head));
    all.begin = seen.begin < all.begin ? seen.begin : all.begin;
    all.end = seen.end > all.end ? seen.end : all.end;
  }
  const bool all_fit = columns_fit(settings, task, all);
  for (std::int64_t n = 0; n < task.blocks; ++n) {
    const Lanes lanes = blocks.block(task.first_block + n, task.key_head);
    fits[n] = queries_fit<kForwardBelow>(task.segment->q, lanes, settings.call->D) &&
              (all_fit || columns_fit(settings, task, columns_of(*task.segment, lanes)));
  }
}

void run_split(const Settings& settings, const Task& task, std::byte* scratch) {
  const TileUnit tiles;
  Split::run(settings, task, scratch);
}

void run(const Settings& settings, const Task& task, std::byte* scratch) {
  if (!is_split(*settings.call)) return amx::kTarget.run(settings, task, scratch);
  if (lanes_of(settings, task).value_or(kTile) <= kMostVectorLanes) return avx512::kTarget.run(settings, task, scratch);
  bool fits[Split::kMostBlocks];
  find_fits(settings, task, fits);
  std::int64_t first = 0;
  for (std::int64_t n = 1; n <= task.blocks; ++n) {
    if (n < task.blocks && fits[n] == fits[first]) continue;
    Task part = task;
    part.first_block += first;
    part.blocks = n - first;
    if (task.partial != nullptr) part.partial += first * task.partial_stride;
    (fits[first] ? run_split : avx512::kTarget.run)(settings, part, scratch);
    first = n;
  }
}

// A task of the backward pass is split if all of it can be; else it is avx512's, whose sums lie as its own do.
using Own = BackwardWorker<SplitGradients>;
const BackwardTarget& others(const Forward& call) { return (is_split(call) ? avx512::kTarget : amx::kTarget).backward; }

// Fewer where the parts of keys take more room than keys.
std::int64_t columns_a_task(const Forward& call) {
  const std::int64_t columns = others(call).columns_a_task(call);
  const std::int64_t own = is_split(call) ? Own::columns_a_task(call) : columns;
  return columns < own ? columns : own;
}

std::int64_t d_q_floats(const Forward& call) { return others(call).d_q_floats(call); }

std::size_t backward_bytes(const Forward& call) {
  const std::size_t bytes = others(call).worker_bytes(call);
  const std::size_t own = is_split(call) ? Own::worker_bytes(call) : 0;
  return bytes > own ? bytes : own;
}

void largest_key(const Settings& settings, const BackwardTask& task, float* largest) {
  others(*settings.call).largest_key(settings, task, largest);
}

bool d_out_fits(const TensorView& d_out, const Lanes& lanes, std::int64_t Dv) {
  const std::byte* rows[kTile];
  for (std::int64_t lane = 0; lane < lanes.count(); ++lane) rows[lane] = row_of(d_out, lanes, lane, sizeof(float));
  const float power = power_for(rows, lanes.count(), Dv);
  Splittable<kBackwardBelow> numbers;
  for (std::int64_t lane = 0; lane < lanes.count(); ++lane) numbers.see(rows[lane], Dv, power);
  return power > 0 && numbers.all();
}

bool d_lse_fits(const TensorView& d_lse, const Lanes& lanes) {
  if (d_lse.rank() != 2) return true;
  bool fits = true;
  for (std::int64_t lane = 0; lane < lanes.count(); ++lane) {
    float number = 0;
    std::memcpy(&number, row_of(d_lse, lanes, lane, sizeof(float)), sizeof(float));
    fits = fits && std::abs(number) < 0x1p50F;
  }
  return fits;
}

// Rows that are summed again want the scores of all tasks by the same products: avx512's.
void sum_rows(const Settings& settings, const BackwardTask& task, std::int64_t block, const float* largest,
              RowSums& sums, std::byte* scratch) {
  const Forward& call = *settings.call;
  others(call).sum_rows(settings, task, block, largest, sums, scratch);
  if (!is_split(call)) return;
  const Segment& segment = task.segment->forward;
  const Lanes lanes = LaneBlocks(segment.shape.Tq, call.group()).block(block, task.key_head);
  sums.splits = !sums.scaled && queries_fit<kBackwardBelow>(segment.q, lanes, call.D) &&
                d_out_fits(task.segment->d_out, lanes, call.Dv) && d_lse_fits(task.segment->d_lse, lanes);
}

bool task_fits(const Forward& call, const BackwardTask& task) {
  const Segment& segment = task.segment->forward;
  const std::int64_t blocks = LaneBlocks(segment.shape.Tq, call.group()).count();
  for (std::int64_t n = 0; n < blocks; ++n) {
    if (!task.sums[n].splits) return false;
  }
  const std::int64_t begin = task.first_column * kTile;
  const std::int64_t last = begin + task.columns * kTile;
  const std::int64_t end = last < segment.shape.Tk ? last : segment.shape.Tk;
  return keys_fit<kBackwardBelow>(segment.k.head(task.key_head), begin, end, call.D) &&
         keys_fit<kBackwardBelow>(segment.v.head(task.key_head), begin, end, call.Dv);
}

void run_backward(const Settings& settings, const BackwardTask& task, std::byte* scratch) {
  const Forward& call = *settings.call;
  if (!is_split(call) || !task_fits(call, task)) return others(call).run(settings, task, scratch);
  const TileUnit tiles;
  Own::run(settings, task, scratch);
}

void finish(const Settings& settings, const BackwardTask& task, std::byte* scratch) {
  others(*settings.call).finish(settings, task, scratch);
}

using OfTiles = LeftTo<amx::kTarget, SplitGradients>;

}  // namespace
}  // namespace amx

constinit const Target amxf32::kTarget = {.name = "amxf32",
                                          .blocks_a_task = amx::blocks_a_task,
                                          .worker_bytes = amx::worker_bytes,
                                          .run = amx::run,
                                          .merge = amx::OfTiles::merge,
                                          .multiply = amx::OfTiles::multiply,
                                          .weigh = amx::OfTiles::weigh,
                                          .backward = {.columns_a_task = amx::columns_a_task,
                                                       .d_q_floats = amx::d_q_floats,
                                                       .worker_bytes = amx::backward_bytes,
                                                       .largest_key = amx::largest_key,
                                                       .sum_rows = amx::sum_rows,
                                                       .run = amx::run_backward,
                                                       .finish = amx::finish}};

}  // namespace qkv::kernels::cpu
