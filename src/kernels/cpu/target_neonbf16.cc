#include "kernels/cpu/beside.h"
#include "kernels/cpu/pair_gradients.h"
#include "kernels/cpu/quad_products.h"
#include "kernels/cpu/row_products.h"
#include "kernels/cpu/simd_neonbf16.h"
#include "kernels/cpu/targets.h"
#include "kernels/product/panels.h"

namespace qkv::kernels::cpu {
namespace neonbf16 {
namespace {

constexpr Target make() noexcept {
  Target target =
      bf16_target<neon::kTarget, QuadProducts<Simd>, RowProducts<Simd>, PairGradients<Simd, Dots>>("neonbf16");
  target.pairs = &kernels::neonbf16::kPairs;
  return target;
}

}  // namespace
}  // namespace neonbf16

// Attention forward in quads (BFMMLA), backward in pairs (BFDOT); NEON does the other types.
constinit const Target neonbf16::kTarget = neonbf16::make();

}  // namespace qkv::kernels::cpu
