// Needs AVX-512 with BF16.
#include <immintrin.h>

#include "ceilings/loops.h"

namespace qkv::bench::pairs {

void registers(std::int64_t steps) {
  __m512 sums[kSums];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  const auto a = reinterpret_cast<__m512bh>(_mm512_set1_epi16(0x3F80));  // ones
  for (std::int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 16
    for (__m512& sum : sums) {
      sum = _mm512_dpbf16_ps(sum, a, a);
      __asm__ volatile("" : "+v"(sum));  // else the compiler might leave it out
    }
  }
}

}  // namespace qkv::bench::pairs
