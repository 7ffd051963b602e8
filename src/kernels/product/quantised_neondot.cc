#include "kernels/product/quantised_vectors_neon.h"

namespace qkv::kernels::neondot {
namespace {

struct Quantised : quantised::Neon<Quantised> {
  [[gnu::always_inline]] static int32x4_t fours(int32x4_t sums, int8x16_t a, int8x16_t b) {
    return vdotq_s32(sums, a, b);
  }
  template <int kLane>
  [[gnu::always_inline]] static int32x4_t fours_by(int32x4_t sums, int8x16_t a, int8x16_t b) {
    return vdotq_laneq_s32(sums, a, b, kLane);
  }
};

}  // namespace

constinit const QuantisedLoops kQuantised = quantised::laid_loops_of<Quantised>();

}  // namespace qkv::kernels::neondot
