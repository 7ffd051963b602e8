#include "kernels/cpu/beside.h"
#include "kernels/cpu/pair_gradients.h"
#include "kernels/cpu/pair_products.h"
#include "kernels/cpu/pair_row_products.h"
#include "kernels/cpu/simd_avx512bf16.h"
#include "kernels/cpu/targets.h"

namespace qkv::kernels::cpu {
namespace avx512bf16 {
namespace {

constexpr auto kMake = bf16_target<kAvx512Vnni, PairProducts<Simd, Dots>, PairRowProducts, PairGradients<Simd, Dots>>;

}  // namespace
}  // namespace avx512bf16

// In pairs; avx512vnni does the other types.
constinit const Target kAvx512Bf16 = avx512bf16::kMake("avx512bf16");

}  // namespace qkv::kernels::cpu
