// Loops compiled for the vectors of the machine that runs them.
#pragma once

#include <cstdint>

// On a lambda that vectorised() takes or calls: it must be inlined to be compiled for the machine's vectors.
#define QKV_INLINED __attribute__((always_inline))

// Before a loop that may write the array it reads, at the same index.
#if defined(__clang__)
#define QKV_SAME_INDEX _Pragma("clang loop vectorize(assume_safety)")
#else
#define QKV_SAME_INDEX _Pragma("GCC ivdep")
#endif

namespace qkv::autograd {

enum class Vectors : std::uint8_t { baseline, avx2, avx512 };

/// Those of the target that attention would choose for f32, so that forcing a target forces these.
[[nodiscard]] Vectors chosen_vectors();

#if defined(__x86_64__)
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
template <class Body>
__attribute__((target("avx2,fma"), flatten)) void run_avx2(const Body& body) {
  body();
}
#endif

/// body(), compiled for the chosen vectors, with a product and a sum fused where they can: each has its own rounding.
template <class Body>
void vectorised(const Body& body) {
#if defined(__x86_64__)
  switch (chosen_vectors()) {
    case Vectors::avx512:
      return run_avx512(body);
    case Vectors::avx2:
      return run_avx2(body);
    case Vectors::baseline:
      break;
  }
#endif
  body();
}

}  // namespace qkv::autograd
