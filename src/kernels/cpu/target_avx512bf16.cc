#include "kernels/cpu/beside.h"
#include "kernels/cpu/pair_gradients.h"
#include "kernels/cpu/pair_products.h"
#include "kernels/cpu/pair_row_products.h"
#include "kernels/cpu/simd_avx512bf16.h"
#include "kernels/cpu/targets.h"

namespace qkv::kernels::cpu {

// bf16, in pairs; AVX-512 does the other types.
namespace avx512bf16 {
namespace {

struct NoUnit {};
using Forwards = Bf16Forward<kAvx512, PairProducts<Simd, Dots>, PairRowProducts>;
using Rest = Beside<kAvx512, PairGradients<Simd, Dots>, NoUnit>;

}  // namespace
}  // namespace avx512bf16

// NOLINTNEXTLINE(cert-err58-cpp): a string view and functions
const Target kAvx512Bf16 = {.name = "avx512bf16",
                            .blocks_a_task = avx512bf16::Forwards::blocks_a_task,
                            .worker_bytes = avx512bf16::Forwards::worker_bytes,
                            .run = avx512bf16::Forwards::run,
                            .merge = avx512bf16::Rest::merge,
                            .multiply = avx512bf16::Rest::multiply,
                            .weigh = avx512bf16::Rest::weigh,
                            .backward = avx512bf16::Rest::backward()};

}  // namespace qkv::kernels::cpu
