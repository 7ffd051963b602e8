#include "kernels/cpu/beside.h"
#include "kernels/cpu/pair_gradients.h"
#include "kernels/cpu/pair_products.h"
#include "kernels/cpu/row_products.h"
#include "kernels/cpu/simd_neonbf16.h"
#include "kernels/cpu/targets.h"

namespace qkv::kernels::cpu {

// bf16, in pairs (BFDOT); NEON does the other types.
namespace neonbf16 {
namespace {

struct NoUnit {};
using Forwards = Bf16Forward<kNeon, PairProducts<Simd, Dots>, RowProducts<Simd>>;
using Rest = Beside<kNeon, PairGradients<Simd, Dots>, NoUnit>;

}  // namespace
}  // namespace neonbf16

// NOLINTNEXTLINE(cert-err58-cpp): a string view and functions
const Target kNeonBf16 = {.name = "neonbf16",
                          .blocks_a_task = neonbf16::Forwards::blocks_a_task,
                          .worker_bytes = neonbf16::Forwards::worker_bytes,
                          .run = neonbf16::Forwards::run,
                          .merge = neonbf16::Rest::merge,
                          .multiply = neonbf16::Rest::multiply,
                          .weigh = neonbf16::Rest::weigh,
                          .backward = neonbf16::Rest::backward()};

}  // namespace qkv::kernels::cpu
