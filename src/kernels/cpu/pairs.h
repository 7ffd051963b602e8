// Rows of bf16 as pairs: of neighbours in a row, or of two rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/rows.h"

namespace qkv::kernels::cpu {

/// Two bf16 in the place of a float.
using Pair [[gnu::may_alias]] = float;
inline constexpr std::int64_t kPairBytes = 4;

/// The operand of a product whose pairs are broadcast: pair (row, step) lies at data[row * row_stride + step].
struct PairRows {
  static constexpr std::int64_t step_stride = 1;
  const Pair* data;
  std::int64_t row_stride;
};

/// Pairs of a row, rounded up to whole vectors.
template <class S>
[[gnu::always_inline]] inline std::int64_t pairs_of(std::int64_t width) {
  return round_up((width + 1) / 2, S::kLanes);
}

/// A row of bf16 as pairs_of() pairs of neighbours, times `sign` (-1, 0 or 1); zeros for null.
template <class S>
inline void copy_pairs(const std::byte* row, std::int64_t width, float sign, float* to) {
  const std::int64_t pairs = pairs_of<S>(width);
  std::memset(to, 0, static_cast<std::size_t>(pairs) * sizeof(float));
  if (row == nullptr) return;
  std::memcpy(to, row, static_cast<std::size_t>(width) * 2);
  if (sign == 1) return;
  auto* elements = reinterpret_cast<std::uint16_t*>(to);
  for (std::int64_t d = 0; d < 2 * pairs; d += S::kLanes) {
    S::store_bf16(elements + d, S::mul(S::load_bf16(elements + d), S::splat(sign)));
  }
}

/// Rows j to j + count as they lie in memory, or in `buffer`, which has pairs_of() for each.
template <class S>
inline PairRows pair_rows(const KvRows& rows, std::int64_t j, std::int64_t count, std::int64_t width, float* buffer) {
  // Rows a page apart would share one set of the cache.
  constexpr std::int64_t kPage = 4096;
  const std::byte* first = rows.row(j);
  const bool in_place = width % 2 == 0 && rows.run(j) >= count && rows.row_stride_bytes > 0 &&
                        rows.row_stride_bytes % kPage != 0 && rows.row_stride_bytes % kPairBytes == 0 &&
                        reinterpret_cast<std::uintptr_t>(first) % kPairBytes == 0;
  if (in_place) {
    return {.data = reinterpret_cast<const Pair*>(first), .row_stride = rows.row_stride_bytes / kPairBytes};
  }
  const std::int64_t pairs = pairs_of<S>(width);
  for (std::int64_t n = 0; n < count; ++n) copy_pairs<S>(rows.row(j + n), width, 1, buffer + n * pairs);
  return {.data = buffer, .row_stride = pairs};
}

/// to[n / 2][d] = the pair of elements d of rows n and n + 1 times `sign`, zeros beyond the last; rows of `to` have
/// round_up(width, kLanes). What is not finite becomes 0; true if there was no such element.
template <class S, class Row>
inline bool interleave_rows(const Row& row, std::int64_t count, std::int64_t width, float sign, float* to) {
  const std::int64_t whole = width / S::kLanes * S::kLanes;
  const std::int64_t padded = round_up(width, S::kLanes);
  typename S::F zeros = S::zero();  // 0 times a number is 0, and NaN otherwise
  const auto finite = [&](const std::uint16_t* from) __attribute__((always_inline)) {
    const typename S::F x = S::mul(S::load_bf16(from), S::splat(sign));
    const typename S::F product = S::mul(x, S::zero());
    zeros = S::add(zeros, product);
    return S::select(S::equal(product, S::zero()), x, S::zero());
  };
  alignas(64) std::uint16_t tail[S::kLanes] = {};
  const auto part_of_row = [&](std::int64_t n, std::int64_t d) __attribute__((always_inline)) {
    if (n >= count) return S::zero();
    const auto* from = reinterpret_cast<const std::uint16_t*>(row(n)) + d;
    if (d < whole) return finite(from);
    std::memcpy(tail, from, static_cast<std::size_t>(width - d) * 2);
    return finite(tail);
  };
  for (std::int64_t n = 0; n < count; n += 2, to += padded) {
    for (std::int64_t d = 0; d < padded; d += S::kLanes) {
      S::store(to + d, S::pairs(part_of_row(n, d), part_of_row(n + 1, d)));
    }
  }
  return S::to_bits(S::equal(zeros, S::zero())) == S::kAllLanes;
}

}  // namespace qkv::kernels::cpu
