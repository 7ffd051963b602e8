// Softmax along one axis.
#pragma once

#include "qkv/tensor.h"

namespace qkv {

/// exp(x) / sum of exp(x) along `axis` (negative counts from the end), with the maximum taken out first. Floating
/// dtypes, any strides; the result has x's shape and dtype. Sums in f64, rounded once. As in attention, a row of -inf
/// alone sees nothing and gives zeros (elsewhere: NaN); a row with NaN or +inf gives NaN.
/// Throws InvalidArgument naming x or axis. Allocates the result and one row.
[[nodiscard]] Tensor softmax(const TensorView& x, int axis);

/// x - log of the sum of exp(x) along `axis`: the logarithm of softmax(), without its underflow. A row of -inf alone
/// gives -inf.
[[nodiscard]] Tensor log_softmax(const TensorView& x, int axis);

}  // namespace qkv
