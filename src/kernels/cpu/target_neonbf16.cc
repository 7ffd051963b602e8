#include "kernels/cpu/beside.h"
#include "kernels/cpu/pair_gradients.h"
#include "kernels/cpu/quad_products.h"
#include "kernels/cpu/row_products.h"
#include "kernels/cpu/simd_neonbf16.h"
#include "kernels/cpu/targets.h"

namespace qkv::kernels::cpu {
namespace neonbf16 {
namespace {

constexpr auto kMake = bf16_target<neon::kTarget, QuadProducts<Simd>, RowProducts<Simd>, PairGradients<Simd, Dots>>;

}  // namespace
}  // namespace neonbf16

// Forward in quads (BFMMLA), backward in pairs (BFDOT); NEON does the other types.
constinit const Target neonbf16::kTarget = neonbf16::kMake("neonbf16");

}  // namespace qkv::kernels::cpu
