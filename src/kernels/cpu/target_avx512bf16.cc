#include "kernels/cpu/beside_avx512.h"
#include "kernels/cpu/in_order.h"
#include "kernels/cpu/pair_gradients.h"
#include "kernels/cpu/pair_products.h"
#include "kernels/cpu/simd_avx512bf16.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/workers.h"

namespace qkv::kernels::cpu {

// bf16, in pairs; AVX-512 does the other types.
namespace avx512bf16 {
namespace {

using Many = Worker<InOrder<PairProducts<Simd, Dots>>>;

bool multiplies(const Forward& call) { return call.dtype == DType::bf16 && holds(call, DType::bf16); }

std::int64_t blocks_a_task(const Forward& call) {
  return multiplies(call) ? Many::blocks_a_task(call) : kAvx512.blocks_a_task(call);
}

std::size_t worker_bytes(const Forward& call) {
  const std::size_t few = kAvx512.worker_bytes(call);
  if (!multiplies(call)) return few;
  const std::size_t many = Many::worker_bytes(call);
  return few > many ? few : many;
}

// Up to this many queries rows are faster, as they are for AVX-512.
constexpr std::int64_t kMostFewLanes = 12;

void run(const Settings& settings, const Task& task, std::byte* scratch) {
  const bool few = lanes_of(settings, task).value_or(kTile) <= kMostFewLanes;
  (few || !multiplies(*settings.call) ? kAvx512.run : Many::run)(settings, task, scratch);
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
