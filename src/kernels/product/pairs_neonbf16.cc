// Products of pairs of bf16 by BFDOT: sums of two products onto f32.
#include <arm_neon.h>

#define QKV_LOOPS neonbf16
#define QKV_VECTOR_BYTES 16
#define QKV_PAIR_SUM(sums, left, right) \
  ((Floats)vbfdotq_f32((float32x4_t)(sums), (bfloat16x8_t)(left), (bfloat16x8_t)(right)))
#include "kernels/product/panels-inl.h"

namespace qkv::kernels {

constinit const PanelLoops neonbf16::kPairs = neonbf16::kPanels;

}  // namespace qkv::kernels
