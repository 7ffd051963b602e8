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
  const auto* q = static_cast<const std::byte*>(segment.q.data());
  for (std::int64_t lane = 0; lane < lanes.count(); ++lane) {
    const std::int64_t row =
        lanes.head_of(lane) * segment.q.strides()[0] + lanes.query_of(lane) * segment.q.strides()[1];
    numbers.see(q + row * bytes_of(DType::f32), D);
  }
  return numbers.all();
}

bool keys_fit(const KvRows& rows, std::int64_t begin, std::int64_t end, std::int64_t width) {
  Splittable numbers;
  for (std::int64_t j = begin; j < end; ++j) numbers.see(rows.row(j), width);
  return numbers.all();
}

// Whether all queries of a task, and the keys and values between the first and the last that they see, can be split.
bool fits(const Settings& settings, const Task& task) {
  const Forward& call = *settings.call;
  const Segment& segment = *task.segment;
  const LaneBlocks blocks(segment.shape.Tq, call.group());
  std::int64_t begin = task.columns.end;
  std::int64_t end = task.columns.begin;
  for (std::int64_t n = 0; n < task.blocks; ++n) {
    const Lanes lanes = blocks.block(task.first_block + n, task.key_head);
    if (!queries_fit(segment, lanes, call.D)) return false;
    const KeyRange columns = columns_of(segment, lanes);
    begin = columns.begin < begin ? columns.begin : begin;
    end = columns.end > end ? columns.end : end;
  }
  begin = (begin > task.columns.begin ? begin : task.columns.begin) * kTile;
  end = (end < task.columns.end ? end : task.columns.end) * kTile;
  end = end < segment.shape.Tk ? end : segment.shape.Tk;
  return keys_fit(segment.k.head(task.key_head), begin, end, call.D) &&
         keys_fit(segment.v.head(task.key_head), begin, end, call.Dv);
}

void run(const Settings& settings, const Task& task, std::byte* scratch) {
  if (!is_split(*settings.call)) return kAmx.run(settings, task, scratch);
  if (lanes_of(settings, task).value_or(kTile) <= kMostVectorLanes || !fits(settings, task)) {
    return kAvx512.run(settings, task, scratch);
  }
  const TileUnit tiles;
  Split::run(settings, task, scratch);
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
