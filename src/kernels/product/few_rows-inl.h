// Compiled once for each width of vectors: QKV_LOOPS names it, QKV_VECTOR_BYTES is its width. Nothing of the standard
// library that could be shared between those copies is used here.
#include <bit>
#include <type_traits>

#include "kernels/product/few_rows_problem.h"
#include "kernels/product/vectors-inl.h"

namespace qkv::kernels::QKV_LOOPS {
namespace {  // NOLINT(cert-dcl59-cpp,misc-anonymous-namespace-in-header): compiled once per target

// Sums in registers: rows of x times rows of the weight. All else that a step reads fits beside them.
constexpr int kMostRows = 4;
constexpr int kSums = QKV_VECTOR_BYTES == 64 ? 16 : 12;
// Rows of the weight for one row of x. One after the other is the order of memory, which Zen 3 reads fastest.
constexpr int kColumnsOfOneRow = QKV_VECTOR_BYTES == 32 ? 1 : 4;
constexpr std::int64_t kBytesAhead = 16384;

#if QKV_VECTOR_BYTES == 64
[[gnu::always_inline]] inline __m256i load_halves(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i_u*>(from));
}
[[gnu::always_inline]] inline Floats load(const BFloat16* from) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(load_halves(from)), 16));
}
[[gnu::always_inline]] inline Floats load(const Half* from) { return _mm512_cvtph_ps(load_halves(from)); }
#elif QKV_VECTOR_BYTES == 32
[[gnu::always_inline]] inline __m128i load_halves(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i_u*>(from));
}
[[gnu::always_inline]] inline Floats load(const BFloat16* from) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_halves(from)), 16));
}
[[gnu::always_inline]] inline Floats load(const Half* from) { return _mm256_cvtph_ps(load_halves(from)); }
#else
using Halves = std::uint16_t __attribute__((vector_size(QKV_VECTOR_BYTES)));

[[gnu::always_inline]] inline Halves load_halves(const void* from) {
  using Pair = std::uint64_t __attribute__((vector_size(QKV_VECTOR_BYTES)));
  std::uint64_t half = 0;
  std::memcpy(&half, from, sizeof(half));
  return std::bit_cast<Halves>(Pair{half, 0});
}
[[gnu::always_inline]] inline Floats load(const BFloat16* from) {
  return std::bit_cast<Floats>(__builtin_shufflevector(Halves{}, load_halves(from), 0, 8, 1, 9, 2, 10, 3, 11));
}
#if defined(__aarch64__)
[[gnu::always_inline]] inline Floats load(const Half* from) {
  return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(&from->bits)));
}
#else
[[gnu::always_inline]] inline Floats load(const Half* from) {
  const auto halves =
      std::bit_cast<Words>(__builtin_shufflevector(load_halves(from), Halves{}, 0, 8, 1, 9, 2, 10, 3, 11));
  // The number of these bits as a float's is 2^112 times too small, exactly; but for an infinity and NaN.
  const Words moved = (halves & 0x7FFFU) << 13U;
  const Words magnitude = std::bit_cast<Words>(std::bit_cast<Floats>(moved) * 0x1p112F);
  const Words special = std::bit_cast<Words>(moved >= 0x0F800000U) & 0x7F800000U;
  return std::bit_cast<Floats>(magnitude | special | (halves & 0x8000U) << 16U);
}
#endif
#endif

[[gnu::always_inline]] inline float number(float x) { return x; }
[[gnu::always_inline]] inline float number(BFloat16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16U);
}
[[gnu::always_inline]] inline float number(Half x) {
  Half row[kLanes] = {x};
  return load(static_cast<const Half*>(row))[0];
}

// The halves of a vector added, again and again.
[[gnu::always_inline]] inline float sum_of(Floats x) {
#if QKV_VECTOR_BYTES == 64
  const auto eight = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
                     __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
#elif QKV_VECTOR_BYTES == 32
  const auto eight = x;
#endif
#if QKV_VECTOR_BYTES >= 32
  const auto four =
      __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
#else
  const auto four = x;
#endif
  const auto two = four + __builtin_shufflevector(four, four, 2, 3, 0, 1);
  return two[0] + two[1];
}

// What is left of a row behind the last whole vector.
template <class W>
[[gnu::noinline]] float rest_of(const float* x, const W* weight, std::int64_t k, std::int64_t K) {
  float sum = 0;
  for (; k < K; ++k) sum += x[k] * number(weight[k]);
  return sum;
}

// sums += kLanes numbers of each row of x times those of each row of the weight.
template <class W, int kRows, int kColumns>
[[gnu::always_inline]] inline void step(const float* x, std::int64_t x_row, const W* weight, std::int64_t weight_row,
                                        Floats (&sums)[kRows][kColumns]) {
  Floats left[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) left[r] = load(x + r * x_row);
#pragma GCC unroll 16
  for (int c = 0; c < kColumns; ++c) {
    const Floats right = load(weight + c * weight_row);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) sums[r][c] += left[r] * right;
  }
}

// The machine's own prefetchers stop at the end of a page.
template <class W, int kColumns>
[[gnu::always_inline]] inline void fetch_ahead(const W* weight, std::int64_t weight_row) {
  if constexpr (QKV_VECTOR_BYTES == 32 && kColumns == 1) {
    __builtin_prefetch(reinterpret_cast<const std::byte*>(weight) + kBytesAhead, 0, 2);
  } else {
    for (int c = 0; c < kColumns; ++c) __builtin_prefetch(weight + (c + kColumns) * weight_row, 0, 2);
  }
}

// Rows [row, row + kRows) of x with `kColumns` rows of the weight from `column` on. Each sum is one vector's, so that
// its order is the same in every block.
template <class W, int kRows, int kColumns>
[[gnu::always_inline]] inline void block(const FewRows& p, std::int64_t row, std::int64_t column) {
  const float* x = p.x + row * p.K;
  const W* weight = static_cast<const W*>(p.weight) + column * p.weight_row;
  Floats sums[kRows][kColumns] = {};
  std::int64_t k = 0;
  constexpr std::int64_t kLine = 64 / sizeof(W);
  for (; k + kLine <= p.K; k += kLine) {
    fetch_ahead<W, kColumns>(weight + k, p.weight_row);
#pragma GCC unroll 8
    for (std::int64_t n = 0; n < kLine; n += kLanes) step(x + k + n, p.K, weight + k + n, p.weight_row, sums);
  }
  for (; k + kLanes <= p.K; k += kLanes) step(x + k, p.K, weight + k, p.weight_row, sums);
  float ends[kRows][kColumns];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) ends[r][c] = sum_of(sums[r][c]);
  }
  for (int r = 0; r < kRows; ++r) {
    float* out = p.out + (row + r) * p.out_row + column;
    for (int c = 0; c < kColumns; ++c) {
      float sum = ends[r][c];
      if (k < p.K) sum += rest_of(x + r * p.K, weight + c * p.weight_row, k, p.K);
      out[c] = p.bias == nullptr ? sum : sum + p.bias[column + c];
    }
  }
}

template <class W, int kRows>
void rows(const FewRows& p, std::int64_t row, std::int64_t begin, std::int64_t end) {
  constexpr int kColumns = kRows == 1 ? kColumnsOfOneRow : kRows == kMostRows ? kSums / kMostRows : 4;
  std::int64_t column = begin;
  for (; column + kColumns <= end; column += kColumns) block<W, kRows, kColumns>(p, row, column);
  for (; column < end; ++column) block<W, kRows, 1>(p, row, column);
}

// A few rows of the weight at a time, which stay near for all rows of x.
template <class W>
void columns(const FewRows& p, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kNear = 12;  // as many as 3 and 4 divide
  const std::int64_t blocks = (p.M + kMostRows - 1) / kMostRows;
  const std::int64_t near = blocks == 1 ? end - begin : kNear;
  for (std::int64_t first = begin; first < end; first += near) {
    const std::int64_t last = first + near < end ? first + near : end;
    std::int64_t row = 0;
    for (std::int64_t left = blocks; left > 0; --left) {
      const std::int64_t count = (p.M - row + left - 1) / left;
      if (count == 1) rows<W, 1>(p, row, first, last);
      if (count == 2) rows<W, 2>(p, row, first, last);
      if (count == 3) rows<W, 3>(p, row, first, last);
      if (count == 4) rows<W, 4>(p, row, first, last);
      row += count;
    }
  }
}

void few_rows(const FewRows& product, std::int64_t begin, std::int64_t end) {
  if (product.dtype == DType::f32) return columns<float>(product, begin, end);
  if (product.dtype == DType::bf16) return columns<BFloat16>(product, begin, end);
  columns<Half>(product, begin, end);
}

}  // namespace
}  // namespace qkv::kernels::QKV_LOOPS
