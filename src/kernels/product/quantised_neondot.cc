#include "kernels/product/quantised-inl.h"
#include "kernels/product/quantised_vectors_neon.h"

namespace qkv::kernels::neondot {
namespace {

struct Quantised : quantised::Neon<Quantised> {
  [[gnu::always_inline]] static int32x4_t fours(int32x4_t sums, int8x16_t a, int8x16_t b) {
    return vdotq_s32(sums, a, b);
  }
};

}  // namespace

constinit const QuantisedLoops kQuantised = quantised::loops_of<Quantised>();

}  // namespace qkv::kernels::neondot
