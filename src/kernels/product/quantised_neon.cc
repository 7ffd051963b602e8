#include "kernels/product/quantised_vectors_neon.h"

namespace qkv::kernels::neon {
namespace {

struct Quantised : quantised::Neon<Quantised> {
  [[gnu::always_inline]] static int32x4_t fours(int32x4_t sums, int8x16_t a, int8x16_t b) {
    const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(a), vget_low_s8(b)));  // products are at most 128 * 127
    const int32x4_t high = vpaddlq_s16(vmull_high_s8(a, b));
    return vaddq_s32(sums, vpaddq_s32(low, high));
  }
  template <int kLane>
  [[gnu::always_inline]] static int32x4_t fours_by(int32x4_t sums, int8x16_t a, int8x16_t b) {
    return fours(sums, a, vreinterpretq_s8_s32(vdupq_laneq_s32(vreinterpretq_s32_s8(b), kLane)));
  }
};

}  // namespace

constinit const QuantisedLoops kQuantised = quantised::laid_loops_of<Quantised>();

}  // namespace qkv::kernels::neon
