#include "kernels/cpu/beside.h"
#include "kernels/cpu/i8_row_products.h"
#include "kernels/cpu/targets.h"
#include "kernels/product/quantised_loops.h"

namespace qkv::kernels::cpu {

// Few queries of a cache of i8; AVX-512 does the rest.
namespace avx512vnni {
namespace {

// A result of 16 bits has no room for what the third digit of a weight would tell.
using FewOfF32 = I8RowProducts<3>;
using FewOf16Bits = I8RowProducts<2>;

using RunF32 = Worker<InOrder<FewOfF32>>;
using Run16Bits = Worker<InOrder<FewOf16Bits>>;

bool is_own(const Forward& call) { return holds(call, DType::i8) && FewOfF32::takes(call); }

std::size_t worker_bytes(const Forward& call) {
  const std::size_t bytes = avx512::kTarget.worker_bytes(call);
  const std::size_t own = is_own(call) ? RunF32::worker_bytes(call) : 0;
  return bytes > own ? bytes : own;
}

void run(const Settings& settings, const Task& task, std::byte* scratch) {
  const Forward& call = *settings.call;
  const bool few = lanes_of(settings, task).value_or(kTile) <= FewOfF32::kMostLanes;
  if (!few || !is_own(call)) return avx512::kTarget.run(settings, task, scratch);
  (call.dtype == DType::f32 ? RunF32::run : Run16Bits::run)(settings, task, scratch);
}

using Rest = LeftTo<avx512::kTarget, FewOfF32>;

}  // namespace
}  // namespace avx512vnni

std::int64_t most_queries_over_i8(const Forward& call) {
  return avx512vnni::is_own(call) ? avx512vnni::FewOfF32::kMostLanes : RowProducts<avx512vnni::Simd>::kMostLanes;
}

constinit const Target avx512vnni::kTarget = {.name = "avx512vnni",
                                              .blocks_a_task = avx512vnni::Rest::blocks_a_task,
                                              .worker_bytes = avx512vnni::worker_bytes,
                                              .run = avx512vnni::run,
                                              .merge = avx512vnni::Rest::merge,
                                              .multiply = avx512vnni::Rest::multiply,
                                              .weigh = avx512vnni::Rest::weigh,
                                              .backward = avx512vnni::Rest::backward(),
                                              .quantised = &kernels::avx512vnni::kQuantised};

}  // namespace qkv::kernels::cpu
