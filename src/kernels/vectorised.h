// Loops compiled for the vectors of the machine that runs them.
#pragma once

#include <type_traits>

#include "kernels/real.h"
#include "kernels/vector_loops.h"

// Before a loop that may write the array it reads, at the same index.
#if defined(__clang__)
#define QKV_SAME_INDEX _Pragma("clang loop vectorize(assume_safety)")
#else
#define QKV_SAME_INDEX _Pragma("GCC ivdep")
#endif

namespace qkv::kernels {

#if defined(QKV_BUILDS_AVX512)
// The compilers' tuning prefers 256 bits unless told.
#if defined(__clang__)
#define QKV_AVX512 target("avx512f,avx512bw,avx512dq,avx512vl,fma"), min_vector_width(512)
#else
#define QKV_AVX512 target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512")
#endif

template <class Body>
__attribute__((QKV_AVX512, flatten)) void run_avx512(const Body& body) {
  body();
}
#endif
#if defined(QKV_BUILDS_AVX2)
template <class Body>
__attribute__((target("avx2,fma"), flatten)) void run_avx2(const Body& body) {
  body();
}
#endif
#if defined(QKV_BUILDS_AVX2) || defined(QKV_BUILDS_AVX512)
// AVX-512 comes with instructions that fuse a product and a sum; AVX2 alone has none.
template <class Body>
__attribute__((target("avx2"), flatten)) void run_unfused(const Body& body) {
  body();
}
#endif

#if defined(__x86_64__) && !defined(QKV_BUILDS_SCALAR)
// A build for one machine comes here only where it is carried to another, or told to run the reference: quick to
// compile.
template <class Body>
__attribute__((cold, noinline)) void run_elsewhere(const Body& body) {
  body();
}
#else
template <class Body>
void run_elsewhere(const Body& body) {
  body();
}
#endif

/// body(), which computes in the type of T, compiled for the vectors of chosen_loops(). In f32 products and sums are
/// fused where the vectors can, so that the digits are the target's; in f64 they never are, and every target gives the
/// same digits.
template <class T, class Body>
void vectorised(const Body& body) {
  [[maybe_unused]] const Vectors vectors = chosen_loops().vectors;
  if constexpr (std::is_same_v<T, double>) {
#if defined(QKV_BUILDS_AVX2) || defined(QKV_BUILDS_AVX512)
    if (vectors != Vectors::baseline) return run_unfused(body);
#endif
  } else {
#if defined(QKV_BUILDS_AVX512)
    if (vectors == Vectors::avx512) return run_avx512(body);
#endif
#if defined(QKV_BUILDS_AVX2)
    if (vectors == Vectors::avx2) return run_avx2(body);
#endif
  }
  run_elsewhere(body);
}

}  // namespace qkv::kernels
