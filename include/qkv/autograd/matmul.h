// Products of matrices: oneDNN's for f32 and bf16, which sums bf16 in f32; a plain loop for f64.
#pragma once

#include "qkv/autograd/variable.h"

namespace qkv {

/// a [..., M, K] times b [..., K, N] -> [..., M, N] of one dtype; the leading axes broadcast as in NumPy. Operands with
/// one of their last two strides 1, such as transposed ones, are read where they lie; others are copied. The same bits
/// for any number of threads. Throws InvalidArgument naming a or b.
[[nodiscard]] Variable matmul(const Variable& a, const Variable& b);

/// x [..., Din] W^T + bias: weight [Dout, Din], bias [Dout] -> [..., Dout] in the dtype of x. Weight and bias have that
/// dtype, or are f32 where x is bf16 (mixed precision): the weight is then rounded to bf16 for the products, and the
/// gradients of both are summed and left in f32. Throws InvalidArgument naming x, weight or bias.
[[nodiscard]] Variable linear(const Variable& x, const Variable& weight);
[[nodiscard]] Variable linear(const Variable& x, const Variable& weight, const Variable& bias);

}  // namespace qkv
