// AVX-512 vectors whose lanes may hold four numbers of 8 bits. Included by this target's own translation units only.
#pragma once

#include <immintrin.h>

#include "kernels/cpu/simd_avx512.h"

namespace qkv::kernels::cpu::avx512vnni {

/// A type of its own, so that what is instantiated with this target's flags stays its own.
struct Simd : avx512::Simd {
  /// Lane n of `sum` += the products of the four numbers in lane n of a, from 0 to 255, and of b, from -128 to 127.
  /// As text: GCC 12 moves the sums of its intrinsic from register to register.
  [[gnu::always_inline]] static void add_products(U a, U b, U& sum) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
};

}  // namespace qkv::kernels::cpu::avx512vnni
