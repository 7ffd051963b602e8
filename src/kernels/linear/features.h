// The feature maps of a chunk of tokens, and the normalisation of a query's weights.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/linear/loops.h"

namespace qkv::kernels::linear {

template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();

/// x = elu(x) + 1 over `count` numbers; `spare` has as many places. Above 0 the exponential is that of 0.
template <class T>
void elu_plus_one(const Loops<T>& loops, T* x, T* spare, std::int64_t count) {
  for (std::int64_t n = 0; n < count; ++n) spare[n] = x[n] > 0 ? 0 : x[n];
  loops.exponential(spare, count);
  for (std::int64_t n = 0; n < count; ++n) x[n] = spare[n] + (x[n] > 0 ? x[n] : 0);
}

/// Each row of D becomes its softmax; a row of -inf alone zeros, one with NaN or +inf NaN.
template <class T>
void softmax_rows(const Loops<T>& loops, T* x, std::int64_t rows, std::int64_t D) {
  for (std::int64_t row = 0; row < rows; ++row) {
    T* r = x + row * D;
    T peak = -kInfinity<T>;
    for (std::int64_t d = 0; d < D; ++d) peak = r[d] > peak ? r[d] : peak;
    if (peak == -kInfinity<T>) peak = 0;  // exp(-inf - 0) is 0; NaN stays NaN
    for (std::int64_t d = 0; d < D; ++d) r[d] -= peak;
  }
  loops.exponential(x, rows * D);
  for (std::int64_t row = 0; row < rows; ++row) {
    T* r = x + row * D;
    T sum = 0;
    for (std::int64_t d = 0; d < D; ++d) sum += r[d];
    for (std::int64_t d = 0; d < D; ++d) r[d] = sum == 0 ? 0 : r[d] / sum;
  }
}

/// In several partial sums, so that the compiler vectorises it.
template <class T>
T dot(const T* a, const T* b, std::int64_t count) {
  constexpr std::int64_t kParts = 16;
  T parts[kParts] = {};
  std::int64_t n = 0;
  for (; n + kParts <= count; n += kParts) {
    for (std::int64_t p = 0; p < kParts; ++p) parts[p] += a[n + p] * b[n + p];
  }
  for (; n < count; ++n) parts[n % kParts] += a[n] * b[n];
  for (std::int64_t p = 1; p < kParts; ++p) parts[0] += parts[p];
  return parts[0];
}

/// elu: the whole query is divided by its weights' sum, q . norms.
template <class T>
void divide_by_sum(T* q, const T* norms, std::int64_t D) {
  const T sum = dot(q, norms, D);
  for (std::int64_t d = 0; d < D; ++d) q[d] = sum == 0 ? 0 : q[d] / sum;
}

/// softmax: each column of the keys has a sum of its own.
template <class T>
void divide_each(T* q, const T* norms, std::int64_t D) {
  for (std::int64_t d = 0; d < D; ++d) q[d] = norms[d] == 0 ? 0 : q[d] / norms[d];
}

/// Keys, one after the other, as exp(k - peak) with the largest so far as peak; `keep` becomes what earlier sums are
/// multiplied by where the peak has moved. One of the two is always 1; `peaks` moves on.
template <class T>
void running_exponentials(const Loops<T>& loops, T* k, T* keep, T* peaks, T* moved, std::int64_t count,
                          std::int64_t D) {
  for (std::int64_t t = 0; t < count; ++t) {
    T* key = k + t * D;
    for (std::int64_t d = 0; d < D; ++d) {
      const T x = key[d];
      const T peak = peaks[d];
      const bool higher = x > peak;
      moved[t * D + d] = higher ? T{1} : T{0};
      keep[t * D + d] = x == -kInfinity<T> ? -kInfinity<T> : higher ? peak - x : x - peak;
      peaks[d] = higher ? x : peak;
    }
  }
  loops.exponential(keep, count * D);
  for (std::int64_t n = 0; n < count * D; ++n) {
    const T e = keep[n];
    const T poison = k[n] < kInfinity<T> ? T{0} : std::numeric_limits<T>::quiet_NaN();  // of NaN and +inf
    k[n] = (moved[n] != 0 ? T{1} : e) + poison;
    keep[n] = moved[n] != 0 ? e : T{1};
  }
}

}  // namespace qkv::kernels::linear
