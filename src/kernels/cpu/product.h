// The two matrix products of a tile, for targets whose vector unit does them: kRows x vectors sums stay in registers.
#pragma once

#include <cstdint>

namespace qkv::kernels::cpu {

/// The operand whose elements are broadcast: element (row, step) lies at data[row * row_stride + step * step_stride].
struct Broadcast {
  const float* data;
  std::int64_t row_stride;
  std::int64_t step_stride;
};

/// The same of a tile of pairs, whose strides are known: with them in registers, sums that go onto others took 10 %
/// more (Zen 4).
template <std::int64_t kRowStride, std::int64_t kStepStride>
struct TileBroadcast {
  static constexpr std::int64_t row_stride = kRowStride;
  static constexpr std::int64_t step_stride = kStepStride;
  const float* data;
};

enum class Sum : std::uint8_t { fresh, onto };

/// sums[row][lane] (+)= sum over steps of a(row, step) * b[step][lane], for `Rows` rows. `width` is the stride of b and
/// sums in floats.
template <class S, int Rows, int Vectors, Sum kSum, class A>
[[gnu::always_inline]] inline void product_rows(A a, const float* b, std::int64_t steps, float* sums,
                                                std::int64_t width) {
  typename S::F acc[Rows][Vectors];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (int x = 0; x < Vectors; ++x) acc[r][x] = S::zero();
  }
  for (std::int64_t n = 0; n < steps; ++n) {
    typename S::F lanes[Vectors];
#pragma GCC unroll 4
    for (int x = 0; x < Vectors; ++x) lanes[x] = S::load(b + x * S::kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const typename S::F element = S::splat(a.data[r * a.row_stride]);
#pragma GCC unroll 4
      for (int x = 0; x < Vectors; ++x) acc[r][x] = S::fma(element, lanes[x], acc[r][x]);
    }
    a.data += a.step_stride;
    b += width;
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (int x = 0; x < Vectors; ++x) {
      float* sum = sums + x * S::kLanes;
      // A tile's own sum is rounded on a smaller scale than the sum of all tiles.
      S::store(sum, kSum == Sum::onto ? S::add(S::load(sum), acc[r][x]) : acc[r][x]);
    }
    sums += width;
  }
}

template <class S, int Rows, int Vectors, Sum kSum, class A>
inline void product_block(std::int64_t rows, A a, const float* b, std::int64_t steps, float* sums, std::int64_t width) {
  if constexpr (Rows > 0) {
    if (rows == Rows) return product_rows<S, Rows, Vectors, kSum>(a, b, steps, sums, width);
    product_block<S, Rows - 1, Vectors, kSum>(rows, a, b, steps, sums, width);
  }
}

template <class S, int Vectors, Sum kSum, class A>
void product(std::int64_t rows, A a, const float* b, std::int64_t steps, float* sums, std::int64_t width) {
  // Inlined, fresh sums take 5 % less; those that go onto others take as much more.
  if constexpr (kSum == Sum::fresh) {
    for (; rows >= 2 * S::kRows; rows -= S::kRows) {
      product_rows<S, S::kRows, Vectors, kSum>(a, b, steps, sums, width);
      a.data += S::kRows * a.row_stride;
      sums += S::kRows * width;
    }
  }
  // The last rows are shared out evenly: few sums would wait for themselves.
  while (rows > 0) {
    const std::int64_t block = rows >= 2 * S::kRows ? S::kRows : rows > S::kRows ? (rows + 1) / 2 : rows;
    product_block<S, S::kRows, Vectors, kSum>(block, a, b, steps, sums, width);
    a.data += block * a.row_stride;
    sums += block * width;
    rows -= block;
  }
}

template <class S, int Vectors, Sum kSum, class A>
void product_narrow(std::int64_t columns, std::int64_t rows, A a, const float* b, std::int64_t steps, float* sums,
                    std::int64_t width) {
  if constexpr (Vectors > 0) {
    if (columns > (Vectors - 1) * S::kLanes) return product<S, Vectors, kSum>(rows, a, b, steps, sums, width);
    product_narrow<S, Vectors - 1, kSum>(columns, rows, a, b, steps, sums, width);
  }
}

/// The product for any number of columns of b and sums, which is rounded up to whole vectors.
template <class S, Sum kSum, class A>
void product_across(std::int64_t columns, std::int64_t rows, A a, const float* b, std::int64_t steps, float* sums,
                    std::int64_t width) {
  constexpr std::int64_t kStrip = S::kLanes * S::kVectors;
  for (std::int64_t x = 0; x < columns; x += kStrip) {
    product_narrow<S, S::kVectors, kSum>(columns - x < kStrip ? columns - x : kStrip, rows, a, b + x, steps, sums + x,
                                         width);
  }
}

}  // namespace qkv::kernels::cpu
