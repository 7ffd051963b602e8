#include "kernels/cpu/amx_engine.h"
#include "kernels/cpu/beside.h"
#include "kernels/cpu/split_products.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/workers.h"

namespace qkv::kernels::cpu {

// f32 in three parts of bf16 on the tile unit; the other types as the target amx.
namespace amx {
namespace {

using Split = Worker<Engine<SplitProducts>>;

// Up to this many queries kAvx512 has products of their own.
constexpr std::int64_t kMostVectorLanes = 16;

bool is_split(const Forward& call) {
  if (call.dtype != DType::f32 || !holds(call, DType::f32)) return false;
  return !call.dropout || call.dropout->p <= SplitWeights::kMostDropout;
}

std::int64_t blocks_a_task(const Forward& call) {
  return is_split(call) ? Split::blocks_a_task(call) : kAmx.blocks_a_task(call);
}

std::size_t worker_bytes(const Forward& call) {
  const std::size_t bytes = kAmx.worker_bytes(call);
  const std::size_t own = is_split(call) ? Split::worker_bytes(call) : 0;
  return bytes > own ? bytes : own;
}

bool queries_fit(const Segment& segment, const Lanes& lanes, std::int64_t D) {
  Splittable numbers;
  for (std::int64_t lane = 0; lane < lanes.count(); ++lane) {
    numbers.see(row_of(segment.q, lanes, lane, bytes_of(DType::f32)), D);
  }
  return numbers.all();
}

bool keys_fit(const KvRows& rows, std::int64_t begin, std::int64_t end, std::int64_t width) {
  Splittable numbers;
  for (std::int64_t j = begin; j < end; ++j) numbers.see(rows.row(j), width);
  return numbers.all();
}

// Whether the keys and values of a task's columns `seen` can be split.
bool columns_fit(const Settings& settings, const Task& task, KeyRange seen) {
  const Segment& segment = *task.segment;
  const std::int64_t begin = (seen.begin > task.columns.begin ? seen.begin : task.columns.begin) * kTile;
  const std::int64_t last = (seen.end < task.columns.end ? seen.end : task.columns.end) * kTile;
  const std::int64_t end = last < segment.shape.Tk ? last : segment.shape.Tk;
  return keys_fit(segment.k.head(task.key_head), begin, end, settings.call->D) &&
         keys_fit(segment.v.head(task.key_head), begin, end, settings.call->Dv);
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
    fits[n] = queries_fit(*task.segment, lanes, settings.call->D) &&
              (all_fit || columns_fit(settings, task, columns_of(*task.segment, lanes)));
  }
}

void run_split(const Settings& settings, const Task& task, std::byte* scratch) {
  const TileUnit tiles;
  Split::run(settings, task, scratch);
}

void run(const Settings& settings, const Task& task, std::byte* scratch) {
  if (!is_split(*settings.call)) return kAmx.run(settings, task, scratch);
  if (lanes_of(settings, task).value_or(kTile) <= kMostVectorLanes) return kAvx512.run(settings, task, scratch);
  bool fits[Split::kMostBlocks];
  find_fits(settings, task, fits);
  std::int64_t first = 0;
  for (std::int64_t n = 1; n <= task.blocks; ++n) {
    if (n < task.blocks && fits[n] == fits[first]) continue;
    Task part = task;
    part.first_block += first;
    part.blocks = n - first;
    if (task.partial != nullptr) part.partial += first * task.partial_stride;
    (fits[first] ? run_split : kAvx512.run)(settings, part, scratch);
    first = n;
  }
}

}  // namespace
}  // namespace amx

// NOLINTNEXTLINE(cert-err58-cpp): a string view and functions
const Target kAmxF32 = {.name = "amxf32",
                        .blocks_a_task = amx::blocks_a_task,
                        .worker_bytes = amx::worker_bytes,
                        .run = amx::run,
                        .merge = kAmx.merge,
                        .multiply = kAmx.multiply,
                        .weigh = kAmx.weigh,
                        .backward = kAmx.backward};

}  // namespace qkv::kernels::cpu
