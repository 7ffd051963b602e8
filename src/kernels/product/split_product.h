// f32 products on a unit that multiplies bf16.
#pragma once

#include <cstddef>
#include <cstdint>

namespace qkv::kernels {

/// C [M, N] = A [M, K] B [K, N]: strides of rows and columns in elements, one of the two 1 for A and for B.
struct SplitProduct {
  std::int64_t M, N, K;
  std::int64_t a_row, a_column, b_row, b_column, c_row;
};

/// Whether the chosen target has such a unit (amx). The machine is queried once.
[[nodiscard]] bool can_split();

/// Of split_multiply(), 64-byte aligned.
[[nodiscard]] std::size_t split_scratch_bytes(const SplitProduct& shape, int threads);

/// C = A B + bias [N] (null for none), where can_split(). Each number is the sum of three of bf16, exactly but for what
/// lies below 2^-133; of the nine products of parts the six largest are added, in f32, so that what is left out is less
/// than 2^-25 of a product, and the error no more than that of f32. The bits do not depend on `threads`. False, with C
/// of no meaning, where a number is not finite or at least 2^127. M, N and K are 1 or more. Allocates nothing.
/// Method: Henry, Tang, Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision
/// Computations" (2019), section III.
[[nodiscard]] bool split_multiply(const SplitProduct& shape, const float* a, const float* b, const float* bias,
                                  float* c, int threads, std::byte* scratch);

}  // namespace qkv::kernels
