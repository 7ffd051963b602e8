#include "kernels/cpu/amx_engine.h"
#include "kernels/cpu/amx_gradients.h"
#include "kernels/cpu/amx_row_products.h"
#include "kernels/cpu/backward_worker.h"
#include "kernels/cpu/in_order.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/tile_types.h"
#include "kernels/cpu/workers.h"

namespace qkv::kernels::cpu {

// The types that the tile unit multiplies; AVX-512 does the others.
namespace amx {
namespace {

using ManyBf16 = Worker<Engine<Bf16Tiles>>;
using ManyF16 = Worker<Engine<F16Tiles>>;
using FewI8 = Worker<InOrder<I8RowProducts>>;

bool holds(const Forward& call, DType dtype) {
  for (const Segment& segment : call.segments) {
    if (segment.k.first.dtype != dtype || segment.v.first.dtype != dtype) return false;
  }
  return true;
}

bool multiplies(const Forward& call) {
  if (!tiles_multiply(call.dtype) || !holds(call, call.dtype)) return false;
  return call.dtype != DType::f16 || !call.dropout || call.dropout->p <= F16::kMostDropout;
}

// Both types have 16 bits.
std::int64_t blocks_a_task(const Forward& call) {
  return multiplies(call) ? ManyBf16::blocks_a_task(call) : kAvx512.blocks_a_task(call);
}

std::size_t worker_bytes(const Forward& call) {
  std::size_t bytes = kAvx512.worker_bytes(call);
  const std::size_t many = tiles_multiply(call.dtype) ? ManyBf16::worker_bytes(call) : 0;
  bytes = bytes > many ? bytes : many;
  const std::size_t few = FewI8::worker_bytes(call);
  return bytes > few ? bytes : few;
}

// Up to this many queries the vector unit is faster.
constexpr std::int64_t kMostVectorLanes = 6;

using Run = void (*)(const Settings&, const Task&, std::byte*);

Run worker_for(const Settings& settings, const Task& task) {
  const Forward& call = *settings.call;
  const std::int64_t lanes = lanes_of(settings, task).value_or(kTile);
  if (multiplies(call)) {
    if (lanes <= kMostVectorLanes) return nullptr;
    return call.dtype == DType::f16 ? ManyF16::run : ManyBf16::run;
  }
  const bool few_i8 = lanes <= FewI8::kMostLanes && holds(call, DType::i8) && I8RowProducts::takes(call);
  return few_i8 ? FewI8::run : nullptr;
}

void run(const Settings& settings, const Task& task, std::byte* scratch) {
  const Run run_here = worker_for(settings, task);
  if (run_here == nullptr) return kAvx512.run(settings, task, scratch);
  const TileUnit tiles;
  run_here(settings, task, scratch);
}

void merge(const Settings& settings, const Task& task, std::span<const KeptStates> kept, std::byte* scratch) {
  kAvx512.merge(settings, task, kept, scratch);
}

void multiply_tile(const float* q, const float* k, std::int64_t queries, std::int64_t keys, std::int64_t D,
                   float* scores) {
  kAvx512.multiply(q, k, queries, keys, D, scores);
}

void weigh_tile(const float* shift, const float* factor, std::int64_t keys, const float* scores, float* weights) {
  kAvx512.weigh(shift, factor, keys, scores, weights);
}

using BackwardBf16 = BackwardWorker<Gradients>;

bool is_bf16(const Forward& call) { return call.dtype == DType::bf16; }

std::int64_t backward_columns(const Forward& call) {
  return is_bf16(call) ? BackwardBf16::columns_a_task(call) : kAvx512.backward.columns_a_task(call);
}

std::int64_t backward_d_q_floats(const Forward& call) {
  return is_bf16(call) ? BackwardBf16::d_q_floats(call) : kAvx512.backward.d_q_floats(call);
}

std::size_t backward_worker_bytes(const Forward& call) {
  return is_bf16(call) ? BackwardBf16::worker_bytes(call) : kAvx512.backward.worker_bytes(call);
}

void backward_largest_key(const Settings& settings, const BackwardTask& task, float* largest) {
  kAvx512.backward.largest_key(settings, task, largest);
}

void sum_backward_rows(const Settings& settings, const BackwardTask& task, std::int64_t block, const float* largest_key,
                       RowSums& sums, std::byte* scratch) {
  if (!is_bf16(*settings.call)) {
    return kAvx512.backward.sum_rows(settings, task, block, largest_key, sums, scratch);
  }
  const TileUnit tiles;
  BackwardBf16::sum_rows(settings, task, block, largest_key, sums, scratch);
}

void run_backward(const Settings& settings, const BackwardTask& task, std::byte* scratch) {
  if (!is_bf16(*settings.call)) return kAvx512.backward.run(settings, task, scratch);
  const TileUnit tiles;
  BackwardBf16::run(settings, task, scratch);
}

void finish_backward(const Settings& settings, const BackwardTask& task, std::byte* scratch) {
  (is_bf16(*settings.call) ? BackwardBf16::finish : kAvx512.backward.finish)(settings, task, scratch);
}

}  // namespace
}  // namespace amx

// NOLINTNEXTLINE(cert-err58-cpp): a string view and functions
const Target kAmx = {.name = "amx",
                     .blocks_a_task = amx::blocks_a_task,
                     .worker_bytes = amx::worker_bytes,
                     .run = amx::run,
                     .merge = amx::merge,
                     .multiply = amx::multiply_tile,
                     .weigh = amx::weigh_tile,
                     .backward = {.columns_a_task = amx::backward_columns,
                                  .d_q_floats = amx::backward_d_q_floats,
                                  .worker_bytes = amx::backward_worker_bytes,
                                  .largest_key = amx::backward_largest_key,
                                  .sum_rows = amx::sum_backward_rows,
                                  .run = amx::run_backward,
                                  .finish = amx::finish_backward}};

}  // namespace qkv::kernels::cpu
