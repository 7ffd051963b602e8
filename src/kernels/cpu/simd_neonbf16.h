// NEON vectors whose lanes may hold pairs of bf16. Included by this target's own translation unit only.
#pragma once

#include <arm_neon.h>

#include "kernels/cpu/simd_neon.h"

namespace qkv::kernels::cpu::neonbf16 {

/// A type of its own, so that what is instantiated with this target's flags stays its own.
struct Simd : neon::Simd {
  static constexpr std::int64_t kKeysAStep = 4;  // see Reach

  /// Lane n is the pair of even[n], in its lower half, and odd[n], rounded to nearest even.
  static F pairs(F even, F odd) {
    const uint16x8_t both = in_a_row(even, odd);
    return vreinterpretq_f32_u16(vzip1q_u16(both, vextq_u16(both, both, kLanes)));
  }
  /// The lanes of `first`, then those of `second`, rounded likewise: pairs of neighbours.
  static F neighbours(F first, F second) { return vreinterpretq_f32_u16(in_a_row(first, second)); }

  /// a and b are [2][4] of bf16, sum is [2][2] of f32: sum[r][c] += the dot product of a's row r and b's row c.
  static F add_products(F a, F b, F sum) {
    return vbfmmlaq_f32(sum, vreinterpretq_bf16_f32(a), vreinterpretq_bf16_f32(b));
  }
  /// Lanes of a and b alternating: those of the lower halves, or of the upper ones.
  static F interleaved_low(F a, F b) { return vzip1q_f32(a, b); }
  static F interleaved_high(F a, F b) { return vzip2q_f32(a, b); }
  /// Every second lane of a, then of b.
  static F even_of(F a, F b) { return vuzp1q_f32(a, b); }
  /// The lower half of a, then that of b; or the upper ones.
  static F low_halves(F a, F b) {
    return vreinterpretq_f32_f64(vzip1q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
  }
  static F high_halves(F a, F b) {
    return vreinterpretq_f32_f64(vzip2q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
  }

 private:
  static uint16x8_t in_a_row(F first, F second) {
    return vreinterpretq_u16_bf16(vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(first), second));
  }
};

/// For the loops of a product: lanes are pairs, and a multiply-add is that of both.
struct Dots : Simd {
  static F fma(F a, F b, F sum) { return vbfdotq_f32(sum, vreinterpretq_bf16_f32(a), vreinterpretq_bf16_f32(b)); }
};

}  // namespace qkv::kernels::cpu::neonbf16
