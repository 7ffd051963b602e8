// Products of pairs of bf16 by VDPBF16PS: sums of two products onto f32.
#define QKV_LOOPS avx512bf16
#define QKV_VECTOR_BYTES 64
#define QKV_PAIR_SUM(sums, left, right) ((Floats)_mm512_dpbf16_ps((__m512)(sums), (__m512bh)(left), (__m512bh)(right)))
#include "kernels/product/panels-inl.h"

namespace qkv::kernels {

constinit const PanelLoops avx512bf16::kPairs = avx512bf16::kPanels;

}  // namespace qkv::kernels
