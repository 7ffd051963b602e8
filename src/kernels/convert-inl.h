// Compiled once for each width of vectors, as few_rows-inl.h: 16 bits to f32 and back.
#if QKV_VECTOR_BYTES > 16
#include <immintrin.h>
#endif

#include "kernels/real.h"

namespace qkv::kernels::QKV_LOOPS {
namespace {  // NOLINT(cert-dcl59-cpp,misc-anonymous-namespace-in-header): compiled once per target

#if QKV_VECTOR_BYTES > 16
// How many of them instructions converted; the same bits as load() and store().
inline std::int64_t widen_halves(const Half* x, std::int64_t count, float* to) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i_u*>(x + i))));
  }
  return i;
}

inline std::int64_t narrow_halves(const float* x, std::int64_t count, Half* to) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}
#else
inline std::int64_t widen_halves(const Half* /*x*/, std::int64_t /*count*/, float* /*to*/) { return 0; }
inline std::int64_t narrow_halves(const float* /*x*/, std::int64_t /*count*/, Half* /*to*/) { return 0; }
#endif

void widen(DType dtype, const void* x, std::int64_t count, float* to) {
  if (dtype == DType::bf16) {
    const auto* from = static_cast<const BFloat16*>(x);
    for (std::int64_t i = 0; i < count; ++i) to[i] = load(from[i]);
    return;
  }
  const auto* from = static_cast<const Half*>(x);
  for (std::int64_t i = widen_halves(from, count, to); i < count; ++i) to[i] = load(from[i]);
}

void narrow(DType dtype, const float* x, std::int64_t count, void* to) {
  if (dtype == DType::bf16) {
    auto* place = static_cast<BFloat16*>(to);
    for (std::int64_t i = 0; i < count; ++i) store(place[i], x[i]);
    return;
  }
  auto* place = static_cast<Half*>(to);
  for (std::int64_t i = narrow_halves(x, count, place); i < count; ++i) store(place[i], x[i]);
}

}  // namespace
}  // namespace qkv::kernels::QKV_LOOPS
