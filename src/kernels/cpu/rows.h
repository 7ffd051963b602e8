// Rows of any storage type as f32, and back.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/kv_rows.h"
#include "qkv/dtype.h"

namespace qkv::kernels::cpu {

[[gnu::always_inline]] inline std::int64_t round_up(std::int64_t n, std::int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

template <class S>
[[gnu::always_inline]] inline typename S::F load_as_f32(const std::byte* row, DType dtype, std::int64_t d) {
  switch (dtype) {
    case DType::bf16:
      return S::load_bf16(reinterpret_cast<const std::uint16_t*>(row) + d);
    case DType::f16:
      return S::load_f16(reinterpret_cast<const std::uint16_t*>(row) + d);
    case DType::i8:
      return S::load_i8(reinterpret_cast<const std::int8_t*>(row) + d);
    default:
      return S::load(reinterpret_cast<const float*>(row) + d);
  }
}

[[gnu::always_inline]] constexpr std::int64_t bytes_of(DType dtype) {
  return dtype == DType::f32 ? 4 : dtype == DType::i8 ? 1 : 2;
}

inline constexpr std::int64_t kLine = 64;  // bytes of a line of the caches

/// The level of cache that a row comes into, and what for.
enum class Fetch : std::uint8_t { first_level, second_level, to_write };

/// Asks for `bytes` from `row` on, so that they come while others are worked on.
template <Fetch kFetch>
[[gnu::always_inline]] inline void fetch(const std::byte* row, std::int64_t bytes) {
  constexpr int kWrites = kFetch == Fetch::to_write ? 1 : 0;
  constexpr int kLocality = kFetch == Fetch::first_level ? 3 : 2;
  for (std::int64_t byte = 0; byte < bytes; byte += kLine) __builtin_prefetch(row + byte, kWrites, kLocality);
}

/// body(c, run) for rows j + c to j + c + run, which are row_stride_bytes apart.
template <class Body>
[[gnu::always_inline]] inline void for_each_run(const KvRows& rows, std::int64_t j, std::int64_t count,
                                                const Body& body) {
  for (std::int64_t c = 0; c < count;) {
    const std::int64_t run = rows.run(j + c) < count - c ? rows.run(j + c) : count - c;
    body(c, run);
    c += run;
  }
}

/// to[c] = where row j + c lies. A run at a time: to find each row takes divisions.
[[gnu::always_inline]] inline void find_rows(const KvRows& rows, std::int64_t j, std::int64_t count,
                                             const std::byte** to) {
  for_each_run(rows, j, count, [&](std::int64_t c, std::int64_t run) {
    const std::byte* row = rows.row(j + c);
    for (std::int64_t n = 0; n < run; ++n) to[c + n] = row + n * rows.row_stride_bytes;
  });
}

/// to[c] = the scale of row j + c, likewise.
[[gnu::always_inline]] inline void find_scales(const KvRows& rows, std::int64_t j, std::int64_t count, float* to) {
  for_each_run(rows, j, count, [&](std::int64_t c, std::int64_t run) {
    const float* from = rows.scales == nullptr ? nullptr : rows.scale_of(j + c);
    for (std::int64_t n = 0; n < run; ++n) to[c + n] = from == nullptr ? 1 : from[n * rows.scale_row_stride];
  });
}

/// `count` elements of a row as f32 times `scale`, then zeros up to a multiple of the lanes.
template <class S>
inline void load_row(const std::byte* row, DType dtype, std::int64_t count, float scale, float* to) {
  const typename S::F factor = S::splat(scale);
  std::int64_t d = 0;
  for (; d + S::kLanes <= count; d += S::kLanes) S::store(to + d, S::mul(load_as_f32<S>(row, dtype, d), factor));
  if (d >= count) return;
  alignas(64) std::byte tail[S::kLanes * sizeof(float)] = {};
  std::memcpy(tail, row + d * bytes_of(dtype), static_cast<std::size_t>((count - d) * bytes_of(dtype)));
  S::store(to + d, S::mul(load_as_f32<S>(tail, dtype, 0), factor));
}

/// load_row() with 0 for the elements that are not finite.
template <class S>
inline void load_finite_row(const std::byte* row, DType dtype, std::int64_t count, float scale, float* to) {
  load_row<S>(row, dtype, count, scale, to);
  for (std::int64_t d = 0; d < count; d += S::kLanes) {
    const typename S::F x = S::load(to + d);
    S::store(to + d, S::select(S::equal(S::mul(x, S::zero()), S::zero()), x, S::zero()));
  }
}

/// Element d of a row of bf16.
[[gnu::always_inline]] inline float bf16_at(const std::byte* row, std::int64_t d) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, row + d * 2, 2);
  const std::uint32_t wide = std::uint32_t{bits} << 16U;
  float x = 0;
  std::memcpy(&x, &wide, 4);
  return x;
}

/// Adds what a product left out: an x that is NaN or infinite, times `factor`.
[[gnu::always_inline]] inline void add_if_unbounded(float x, float factor, float& sum) {
  if (!std::isfinite(x)) sum += x * factor;
}

template <class S>
[[gnu::always_inline]] inline void store_as(typename S::F x, DType dtype, std::byte* row, std::int64_t d) {
  switch (dtype) {
    case DType::bf16:
      return S::store_bf16(reinterpret_cast<std::uint16_t*>(row) + d, x);
    case DType::f16:
      return S::store_f16(reinterpret_cast<std::uint16_t*>(row) + d, x);
    default:
      return S::store(reinterpret_cast<float*>(row) + d, x);
  }
}

/// `count` floats times `factor` as a row of f32, f16 or bf16, rounded to nearest even. `from` is readable up to a
/// multiple of the lanes.
template <class S>
inline void store_row(const float* from, float factor, std::int64_t count, DType dtype, std::byte* row) {
  const typename S::F times = S::splat(factor);
  std::int64_t d = 0;
  for (; d + S::kLanes <= count; d += S::kLanes) store_as<S>(S::mul(S::load(from + d), times), dtype, row, d);
  if (d >= count) return;
  alignas(64) std::byte tail[S::kLanes * sizeof(float)];
  store_as<S>(S::mul(S::load(from + d), times), dtype, tail, 0);
  std::memcpy(row + d * bytes_of(dtype), tail, static_cast<std::size_t>((count - d) * bytes_of(dtype)));
}

/// to[c][r] = from[r][c] for kLanes x kLanes floats.
template <class S>
[[gnu::always_inline]] inline void transpose_block(const float* from, std::int64_t from_stride, float* to,
                                                   std::int64_t to_stride) {
  typename S::F rows[S::kLanes];
#pragma GCC unroll 16
  for (int r = 0; r < S::kLanes; ++r) rows[r] = S::load(from + r * from_stride);
  S::transpose(rows);
#pragma GCC unroll 16
  for (int r = 0; r < S::kLanes; ++r) S::store(to + r * to_stride, rows[r]);
}

/// True if every float is finite. `count` is a multiple of the lanes.
template <class S>
inline bool all_finite(const float* x, std::int64_t rows, std::int64_t count, std::int64_t stride) {
  // 0 times a number is 0, and NaN otherwise; four sums, since one would wait for itself.
  typename S::F sum[4] = {S::zero(), S::zero(), S::zero(), S::zero()};
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* row = x + r * stride;
    std::int64_t d = 0;
    for (; d + 4 * S::kLanes <= count; d += 4 * S::kLanes) {
#pragma GCC unroll 4
      for (int n = 0; n < 4; ++n) sum[n] = S::fma(S::load(row + d + n * S::kLanes), S::zero(), sum[n]);
    }
    for (; d < count; d += S::kLanes) sum[0] = S::fma(S::load(row + d), S::zero(), sum[0]);
  }
  const typename S::F all = S::add(S::add(sum[0], sum[1]), S::add(sum[2], sum[3]));
  return S::to_bits(S::equal(all, S::zero())) == S::kAllLanes;
}

}  // namespace qkv::kernels::cpu
