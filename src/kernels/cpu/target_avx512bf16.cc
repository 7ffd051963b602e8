#include "kernels/cpu/beside_avx512.h"
#include "kernels/cpu/in_order.h"
#include "kernels/cpu/pair_gradients.h"
#include "kernels/cpu/pair_products.h"
#include "kernels/cpu/pair_row_products.h"
#include "kernels/cpu/simd_avx512bf16.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/workers.h"

namespace qkv::kernels::cpu {

// bf16, in pairs; AVX-512 does the other types.
namespace avx512bf16 {
namespace {

using Many = Worker<InOrder<PairProducts<Simd, Dots>>>;
using Few = Worker<InOrder<PairRowProducts>>;

bool multiplies(const Forward& call) { return call.dtype == DType::bf16 && holds(call, DType::bf16); }

std::int64_t blocks_a_task(const Forward& call) {
  return multiplies(call) ? Many::blocks_a_task(call) : kAvx512.blocks_a_task(call);
}

std::size_t worker_bytes(const Forward& call) {
  std::size_t bytes = kAvx512.worker_bytes(call);
  if (!multiplies(call)) return bytes;
  for (const std::size_t own : {Many::worker_bytes(call), Few::worker_bytes(call)}) bytes = own > bytes ? own : bytes;
  return bytes;
}

void run(const Settings& settings, const Task& task, std::byte* scratch) {
  const Forward& call = *settings.call;
  if (!multiplies(call)) return kAvx512.run(settings, task, scratch);
  const bool few = lanes_of(settings, task).value_or(kTile) <= Few::kMostLanes;
  (!few ? Many::run : PairRowProducts::takes(call) ? Few::run : kAvx512.run)(settings, task, scratch);
}

struct NoUnit {};
using Beside = BesideAvx512<PairGradients<Simd, Dots>, NoUnit>;

}  // namespace
}  // namespace avx512bf16

// NOLINTNEXTLINE(cert-err58-cpp): a string view and functions
const Target kAvx512Bf16 = {.name = "avx512bf16",
                            .blocks_a_task = avx512bf16::blocks_a_task,
                            .worker_bytes = avx512bf16::worker_bytes,
                            .run = avx512bf16::run,
                            .merge = avx512bf16::Beside::merge,
                            .multiply = avx512bf16::Beside::multiply,
                            .weigh = avx512bf16::Beside::weigh,
                            .backward = avx512bf16::Beside::backward()};

}  // namespace qkv::kernels::cpu
