#include "kernels/cpu/beside.h"
#include "kernels/cpu/i8_pair_products.h"
#include "kernels/cpu/pair_gradients.h"
#include "kernels/cpu/pair_products.h"
#include "kernels/cpu/pair_row_products.h"
#include "kernels/cpu/simd_avx512bf16.h"
#include "kernels/cpu/targets.h"
#include "kernels/product/panels.h"

namespace qkv::kernels::cpu {
namespace avx512bf16 {
namespace {

using OfBf16 = Bf16Forward<avx512vnni::kTarget, PairProducts<Simd, Dots>, PairRowProducts>;
// Blocks of queries over a cache of i8; few of them are avx512vnni's.
using OfI8 = Worker<InOrder<I8PairProducts<Simd, Dots>>>;

bool is_over_i8(const Forward& call) { return call.dtype == DType::bf16 && holds(call, DType::i8); }

std::int64_t blocks_a_task(const Forward& call) {
  const std::int64_t blocks = OfBf16::blocks_a_task(call);
  if (!is_over_i8(call)) return blocks;
  const std::int64_t own = OfI8::blocks_a_task(call);
  return own < blocks ? own : blocks;
}

std::size_t worker_bytes(const Forward& call) {
  const std::size_t bytes = OfBf16::worker_bytes(call);
  const std::size_t own = is_over_i8(call) ? OfI8::worker_bytes(call) : 0;
  return own > bytes ? own : bytes;
}

void run(const Settings& settings, const Task& task, std::byte* scratch) {
  const Forward& call = *settings.call;
  if (!is_over_i8(call)) return OfBf16::run(settings, task, scratch);
  const bool few = lanes_of(settings, task).value_or(kTile) <= most_queries_over_i8(call);
  (few ? avx512vnni::kTarget.run : OfI8::run)(settings, task, scratch);
}

constexpr Target make() noexcept {
  Target target =
      bf16_target<avx512vnni::kTarget, PairProducts<Simd, Dots>, PairRowProducts, PairGradients<Simd, Dots>>(
          "avx512bf16");
  target.blocks_a_task = blocks_a_task;
  target.worker_bytes = worker_bytes;
  target.run = run;
  target.pairs = &kernels::avx512bf16::kPairs;
  return target;
}

}  // namespace
}  // namespace avx512bf16

// In pairs; avx512vnni does the other types.
constinit const Target avx512bf16::kTarget = avx512bf16::make();

}  // namespace qkv::kernels::cpu
