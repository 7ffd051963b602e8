// Products of matrices: oneDNN's for f32, bf16 and f16, which sums all three in f32; a plain loop for f64. Where the
// machine has no products of f16, its factors are converted to f32, in which they are exact.
#pragma once

#include "qkv/autograd/variable.h"

namespace qkv {

/// a [..., M, K] times b [..., K, N] -> [..., M, N] of one dtype; the leading axes broadcast as in NumPy. Operands with
/// one of their last two strides 1, such as transposed ones, are read where they lie; others are copied. The same bits
/// for any number of threads. Throws InvalidArgument naming a or b.
[[nodiscard]] Variable matmul(const Variable& a, const Variable& b);

/// x [..., Din] W^T + bias: weight [Dout, Din], bias [Dout] -> [..., Dout] in the dtype of x. Weight and bias have one
/// dtype: that of x, or f32 where x is bf16 or f16 (mixed precision), or bf16 or f16 where x is f32 (parameters stored
/// small). The weight is then converted for the products, in memory from the pool. Sums are in f32; the gradients of
/// weight and bias are left in their dtype. Throws InvalidArgument naming x, weight or bias.
[[nodiscard]] Variable linear(const Variable& x, const Variable& weight);
[[nodiscard]] Variable linear(const Variable& x, const Variable& weight, const Variable& bias);

}  // namespace qkv
