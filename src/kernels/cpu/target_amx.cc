#include "kernels/cpu/amx_products.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/worker.h"

namespace qkv::kernels::cpu {

// The tile unit multiplies bf16; other types take the vector unit.
namespace amx {

using VectorWorker = Worker<FmaProducts<Simd>>;
using TileWorker = Worker<Products>;

bool uses_tiles(const Forward& call) {
  for (const Segment& segment : call.segments) {
    if (segment.k.first.dtype != DType::bf16 || segment.v.first.dtype != DType::bf16) return false;
  }
  return call.dtype == DType::bf16;
}

std::int64_t blocks_a_task(const Forward& call) {
  return uses_tiles(call) ? TileWorker::blocks_a_task(call) : VectorWorker::blocks_a_task(call);
}

std::size_t worker_bytes(const Forward& call) {
  return uses_tiles(call) ? TileWorker::worker_bytes(call) : VectorWorker::worker_bytes(call);
}

void run(const Settings& settings, const Task& task, std::byte* scratch) {
  if (!uses_tiles(*settings.call)) return VectorWorker::run(settings, task, scratch);
  const TileUnit tiles;
  TileWorker::run(settings, task, scratch);
}

}  // namespace amx

const Target kAmx = {
    .name = "amx", .blocks_a_task = amx::blocks_a_task, .worker_bytes = amx::worker_bytes, .run = amx::run};

}  // namespace qkv::kernels::cpu
