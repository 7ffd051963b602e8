#include "kernels/cpu/beside.h"
#include "kernels/cpu/targets.h"
#include "kernels/product/quantised_loops.h"

namespace qkv::kernels::cpu {

// Products with quantised weights; AVX2 does the rest.
namespace avx2vnni {
namespace {

struct Own {};

using Rest = LeftTo<avx2::kTarget, Own>;

}  // namespace
}  // namespace avx2vnni

constinit const Target avx2vnni::kTarget = {.name = "avx2vnni",
                                            .blocks_a_task = avx2vnni::Rest::blocks_a_task,
                                            .worker_bytes = avx2vnni::Rest::worker_bytes,
                                            .run = avx2vnni::Rest::run,
                                            .merge = avx2vnni::Rest::merge,
                                            .multiply = avx2vnni::Rest::multiply,
                                            .weigh = avx2vnni::Rest::weigh,
                                            .backward = avx2vnni::Rest::backward(),
                                            .quantised = &kernels::avx2vnni::kQuantised};

}  // namespace qkv::kernels::cpu
