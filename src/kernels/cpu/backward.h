// Fused gradients of attention on the CPU: one call, split into tasks that each own the gradients of a range of keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cpu/forward.h"
#include "qkv/tensor.h"

namespace qkv::kernels::cpu {

/// The memory for the gradient of q, k or v of a segment: [H, T, width] of the call's dtype or f32, last stride 1.
struct GradientRows {
  std::byte* base = nullptr;  // null: not wanted
  DType dtype = DType::f32;
  std::int64_t head_stride = 0;
  std::int64_t row_stride = 0;
};

/// A segment of the forward call, its results and the gradients with respect to them.
struct BackwardSegment {
  Segment forward;   // its out and lse are not used
  TensorView out;    // [Hq, Tq, Dv], last stride 1
  TensorView lse;    // [Hq, Tq] in f32
  TensorView d_out;  // as out
  TensorView d_lse;  // [Hq, Tq] in f32; no elements: zero
  GradientRows d_q;
  GradientRows d_k;
  GradientRows d_v;
};

/// A validated call. dtype f32, f16 or bf16; sums in f32.
struct Backward {
  Forward forward;  // its segments are not used
  std::span<const BackwardSegment> segments;
};

}  // namespace qkv::kernels::cpu
