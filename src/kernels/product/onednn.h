// One matrix product by oneDNN, on the calling thread alone.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "qkv/dtype.h"

namespace qkv::kernels {

/// How B lies.
enum class RightLayout : std::uint8_t {
  strided,  // as the strides say
  packed,   // as onednn_pack() lays it for these products
  kept,     // as it lays it for products of any M
};

/// C [M, N] = A [M, K] B [K, N] + bias [N]: strides of rows and columns in elements, one of the two 1.
struct ProductShape {
  std::int64_t M, N, K;
  std::int64_t a_row, a_column, b_row, b_column, c_row;
  DType dtype;  // of A and B: bf16 or f16
  DType out;    // of C
  DType bias;   // i64 where there is none
  RightLayout right = RightLayout::strided;

  auto operator<=>(const ProductShape&) const = default;
};

/// Whether oneDNN has instructions for products of this dtype; without them it has plain loops, a twentieth as fast.
[[nodiscard]] bool onednn_has_products_of(DType dtype);

/// Bytes of B as `shape.right`, packed or kept, lays it for products of this shape; 0 where oneDNN has no such product.
[[nodiscard]] std::size_t onednn_packed_bytes(const ProductShape& shape);
/// Lays B so. `packed` has onednn_packed_bytes() and is 64-byte aligned.
void onednn_pack(const ProductShape& shape, const void* b, void* packed);

/// False where oneDNN has no such product on this machine; C is then untouched. The primitive of a shape is made at its
/// first call, and those of the last 512 shapes are kept. Safe from several threads; allocates scratch as oneDNN asks.
/// Leaves the thread's OpenMP settings alone.
[[nodiscard]] bool onednn_multiply(const ProductShape& shape, const void* a, const void* b, const void* bias, void* c);

}  // namespace qkv::kernels
