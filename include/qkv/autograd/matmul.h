// Matrix products: by oneDNN for f32, bf16 and f16, with sums in f32; by a plain loop for f64. If the machine has no
// f16 products, factors are converted to f32, which is exact.
#pragma once

#include "qkv/autograd/variable.h"

namespace qkv {

/// a [..., M, K] times b [..., K, N] -> [..., M, N] of one dtype; the leading axes broadcast as in NumPy. Operands with
/// a stride of 1 in one of the last two axes, such as transposed ones, are read in place; others are copied. The same
/// bits for any number of threads. Throws InvalidArgument naming a or b.
[[nodiscard]] Variable matmul(const Variable& a, const Variable& b);

/// x [..., Din] W^T + bias: weight [Dout, Din], bias [Dout] -> [..., Dout] in the dtype of x. Weight and bias have one
/// dtype: that of x, or f32 where x is bf16 or f16 (mixed precision), or bf16 or f16 where x is f32 (parameters stored
/// small); beside a weight of bf16 or f16 the bias may be f32, as files of GGUF have it. The weight is then converted
/// for the product, in memory from the pool. Sums are in f32; the gradients of weight and bias have their dtype. Throws
/// InvalidArgument naming x, weight or bias.
///
/// A quantised weight is multiplied in its blocks, by x in 8 bits (docs/decisions/0019-quantised-products.md), with x
/// and bias of f32, bf16 or f16. It is a constant; the gradient of x is that of the product with x as it is.
[[nodiscard]] Variable linear(const Variable& x, const Variable& weight);
[[nodiscard]] Variable linear(const Variable& x, const Variable& weight, const Variable& bias);

}  // namespace qkv
