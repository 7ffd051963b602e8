#include "kernels/cpu/amx_engine.h"
#include "kernels/cpu/amx_gradients.h"
#include "kernels/cpu/amx_row_products.h"
#include "kernels/cpu/beside.h"
#include "kernels/cpu/in_order.h"
#include "kernels/cpu/split_panels.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/tile_types.h"
#include "kernels/cpu/workers.h"
#include "kernels/product/quantised_loops.h"

namespace qkv::kernels::cpu {

// The types that the tile unit multiplies; AVX-512 does the others.
namespace amx {
namespace {

using ManyBf16 = Worker<Engine<Products<Bf16Tiles>>>;
using ManyF16 = Worker<Engine<Products<F16Tiles>>>;
using FewI8 = Worker<InOrder<I8RowProducts>>;

bool multiplies(const Forward& call) {
  if (!tiles_multiply(call.dtype) || !holds(call, call.dtype)) return false;
  return call.dtype != DType::f16 || !call.problem->dropout || call.problem->dropout->p <= F16::kMostDropout;
}

// Both types have 16 bits.
std::int64_t blocks_a_task(const Forward& call) {
  return multiplies(call) ? ManyBf16::blocks_a_task(call) : avx512::kTarget.blocks_a_task(call);
}

std::size_t worker_bytes(const Forward& call) {
  std::size_t bytes = avx512::kTarget.worker_bytes(call);
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
  if (run_here == nullptr) return avx512::kTarget.run(settings, task, scratch);
  const TileUnit tiles;
  run_here(settings, task, scratch);
}

using Rest = Beside<avx512::kTarget, Gradients, TileUnit>;

}  // namespace
}  // namespace amx

constinit const Target amx::kTarget = {.name = "amx",
                                       .blocks_a_task = amx::blocks_a_task,
                                       .worker_bytes = amx::worker_bytes,
                                       .run = amx::run,
                                       .merge = amx::Rest::merge,
                                       .multiply = amx::Rest::multiply,
                                       .weigh = amx::Rest::weigh,
                                       .backward = amx::Rest::backward(),
                                       .split = &kAmxSplit,
                                       .quantised = &kernels::amx::kQuantised};

}  // namespace qkv::kernels::cpu
