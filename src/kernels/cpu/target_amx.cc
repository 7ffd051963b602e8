#include "kernels/cpu/amx_engine.h"
#include "kernels/cpu/in_order.h"
#include "kernels/cpu/row_products.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/workers.h"

namespace qkv::kernels::cpu {

// The tile unit multiplies bf16; other types, and few queries, are left to AVX-512.
namespace amx {

using TileWorker = Worker<Engine>;
using Few = Worker<InOrder<RowProducts<Simd>>>;

bool uses_tiles(const Forward& call) {
  for (const Segment& segment : call.segments) {
    if (segment.k.first.dtype != DType::bf16 || segment.v.first.dtype != DType::bf16) return false;
  }
  return call.dtype == DType::bf16;
}

bool uses_tiles(const Settings& settings, const Task& task) {
  return uses_tiles(*settings.call) && !Workers<TileWorker, Few>::is_few(settings, task);
}

std::int64_t blocks_a_task(const Forward& call) {
  return uses_tiles(call) ? TileWorker::blocks_a_task(call) : kAvx512.blocks_a_task(call);
}

std::size_t worker_bytes(const Forward& call) {
  const std::size_t tiles = call.dtype == DType::bf16 ? TileWorker::worker_bytes(call) : 0;
  const std::size_t others = kAvx512.worker_bytes(call);
  return tiles > others ? tiles : others;
}

void run(const Settings& settings, const Task& task, std::byte* scratch) {
  if (!uses_tiles(settings, task)) return kAvx512.run(settings, task, scratch);
  const TileUnit tiles;
  TileWorker::run(settings, task, scratch);
}

void merge(const Settings& settings, const Task& task, std::int64_t pieces, std::byte* scratch) {
  kAvx512.merge(settings, task, pieces, scratch);
}

}  // namespace amx

const Target kAmx = {.name = "amx",
                     .blocks_a_task = amx::blocks_a_task,
                     .worker_bytes = amx::worker_bytes,
                     .run = amx::run,
                     .merge = amx::merge};

}  // namespace qkv::kernels::cpu
