// Operands of a product that sums over four elements of bf16 in one instruction, and that product.
//
// The four elements that a column contributes to one step are a quad: two floats' worth, two quads in a vector. A
// matrix of quads lies as [step][half][width] floats. Of each four columns n to n + 3, floats n to n + 3 of half 0 hold
// the quads of the first two, and those of half 1 the quads of the other two.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/cpu/product.h"
#include "kernels/cpu/rows.h"

namespace qkv::kernels::cpu {

inline constexpr std::int64_t kQuad = 4;

/// The steps of a product that sums over `width` elements.
[[nodiscard, gnu::always_inline]] inline std::int64_t quads_of(std::int64_t width) {
  return (width + kQuad - 1) / kQuad;
}

/// A matrix [step][half][width].
struct Quads {
  const float* data;
  std::int64_t width;

  [[nodiscard]] Quads from(std::int64_t step, std::int64_t column) const {
    return {.data = data + 2 * step * width + column, .width = width};
  }
};

/// Writes column n of a matrix. `row` holds its elements one after the other, with zeros up to a whole quad.
inline void set_column(const float* row, std::int64_t quads, std::int64_t n, std::int64_t width, float* to) {
  to += n % 4 / 2 * width + n / 4 * 4 + n % 2 * 2;
  for (std::int64_t step = 0; step < quads; ++step) {
    std::memcpy(to + 2 * step * width, row + 2 * step, 2 * sizeof(float));
  }
}

/// Writes the quads of four columns, of which `first` has the first two elements each and `second` the last two.
template <class S>
[[gnu::always_inline]] inline void join_pairs(typename S::F first, typename S::F second, float* to,
                                              std::int64_t width) {
  S::store(to, S::interleaved_low(first, second));
  S::store(to + width, S::interleaved_high(first, second));
}

/// sums[row][lane] (+)= the dot product of a's column `row` and b's column `lane`, for 4 * Groups rows and 4 * Vectors
/// lanes. `width` is the stride of sums.
template <class S, int Groups, int Vectors, Sum kSum>
[[gnu::always_inline]] inline void quad_rows(Quads a, Quads b, std::int64_t steps, float* sums, std::int64_t width) {
  typename S::F acc[2 * Groups][2 * Vectors];
#pragma GCC unroll 4
  for (auto& row : acc) {
#pragma GCC unroll 4
    for (auto& sum : row) sum = S::zero();
  }
  for (std::int64_t n = 0; n < steps; ++n, a = a.from(1, 0), b = b.from(1, 0)) {
    typename S::F lanes[2 * Vectors];
#pragma GCC unroll 4
    for (int x = 0; x < 2 * Vectors; ++x) lanes[x] = S::load(b.data + x % 2 * b.width + x / 2 * 4);
#pragma GCC unroll 4
    for (int r = 0; r < 2 * Groups; ++r) {
      const typename S::F rows = S::load(a.data + r % 2 * a.width + r / 2 * 4);
#pragma GCC unroll 4
      for (int x = 0; x < 2 * Vectors; ++x) acc[r][x] = S::add_products(rows, lanes[x], acc[r][x]);
    }
  }
  const auto put = [&](float* to, typename S::F sum) __attribute__((always_inline)) {
    S::store(to, kSum == Sum::onto ? S::add(S::load(to), sum) : sum);
  };
#pragma GCC unroll 4
  for (int r = 0; r < 2 * Groups; ++r) {
#pragma GCC unroll 2
    for (int x = 0; x < Vectors; ++x) {
      float* to = sums + 2 * r * width + x * 4;
      put(to, S::low_halves(acc[r][2 * x], acc[r][2 * x + 1]));
      put(to + width, S::high_halves(acc[r][2 * x], acc[r][2 * x + 1]));
    }
  }
}

template <class S, int Vectors, Sum kSum>
void quad_columns(std::int64_t rows, Quads a, Quads b, std::int64_t steps, float* sums, std::int64_t width) {
  for (; rows > 4; rows -= 8, a = a.from(0, 8), sums += 8 * width) {
    quad_rows<S, 2, Vectors, kSum>(a, b, steps, sums, width);
  }
  if (rows > 0) quad_rows<S, 1, Vectors, kSum>(a, b, steps, sums, width);
}

/// The product for any number of columns and rows, which are rounded up to fours.
template <class S, Sum kSum>
void quad_product(std::int64_t columns, std::int64_t rows, Quads a, Quads b, std::int64_t steps, float* sums,
                  std::int64_t width) {
  for (; columns > 4; columns -= 8, b = b.from(0, 8), sums += 8) {
    quad_columns<S, 2, kSum>(rows, a, b, steps, sums, width);
  }
  if (columns > 0) quad_columns<S, 1, kSum>(rows, a, b, steps, sums, width);
}

}  // namespace qkv::kernels::cpu
