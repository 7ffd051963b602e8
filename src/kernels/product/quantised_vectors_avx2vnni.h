// The operations of quantised products in AVX2 with AVX-VNNI. Included by that target's own file, and by a test, which
// has it compiled to AVX-512's form of the instruction.
#pragma once

#include "kernels/product/quantised_vectors_avx2.h"

namespace qkv::kernels::quantised {

template <class Own>
struct Avx2Vnni : Avx2<Own> {
  [[gnu::always_inline]] static Ints dot(const Bytes& numbers, const Bytes& x) {
    Ints sums = {};
    Own::add_products(sums, numbers, x);
    return sums;
  }
  [[gnu::always_inline]] static void add_dot(Ints& sums, const Bytes& numbers, const Bytes& x) {
    Own::add_products(sums, numbers, x);
  }
  [[gnu::always_inline]] static void add_products(Ints& sums, const Bytes& numbers, const Bytes& x) {
#if defined(__AVXVNNI__)
    sums = (Ints)_mm256_dpbusd_avx_epi32((__m256i)sums, (__m256i)numbers, (__m256i)x);
#else
    sums = (Ints)_mm256_dpbusd_epi32((__m256i)sums, (__m256i)numbers, (__m256i)x);
#endif
  }
};

}  // namespace qkv::kernels::quantised
