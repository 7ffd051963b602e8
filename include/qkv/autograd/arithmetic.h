// Element-wise operations.
//
// Two arguments have one dtype and broadcast as in NumPy: shapes are aligned at their last axes, and an extent of 1 or
// a missing axis repeats. Each operation allocates its result; gradients of broadcast elements are summed in a fixed
// order. f32, bf16 and f16 are computed in f32 and rounded once, f64 in f64.
#pragma once

#include "qkv/autograd/variable.h"

namespace qkv {

[[nodiscard]] Variable add(const Variable& a, const Variable& b);
[[nodiscard]] Variable sub(const Variable& a, const Variable& b);
[[nodiscard]] Variable mul(const Variable& a, const Variable& b);
[[nodiscard]] Variable div(const Variable& a, const Variable& b);

/// x * factor.
[[nodiscard]] Variable scale(const Variable& x, double factor);

[[nodiscard]] Variable neg(const Variable& x);
[[nodiscard]] Variable exp(const Variable& x);
[[nodiscard]] Variable log(const Variable& x);
[[nodiscard]] Variable sqrt(const Variable& x);
[[nodiscard]] Variable tanh(const Variable& x);
/// 1 / (1 + exp(-x)).
[[nodiscard]] Variable sigmoid(const Variable& x);
/// max(x, 0), NaN where x is. Its gradient at 0 is 0.
[[nodiscard]] Variable relu(const Variable& x);
/// x, at least `low` and at most `high`, either of which may be infinite; NaN where x is. Its gradient is 1 from low to
/// high, with both, else 0. Throws InvalidArgument naming high unless low <= high.
[[nodiscard]] Variable clamp(const Variable& x, double low, double high);
/// x times the standard normal distribution function of x (Hendrycks and Gimpel 2016).
[[nodiscard]] Variable gelu(const Variable& x);
/// The approximation of gelu by tanh, from the same paper.
[[nodiscard]] Variable gelu_tanh(const Variable& x);
/// x * sigmoid(x).
[[nodiscard]] Variable silu(const Variable& x);

/// x rounded once to f64, f32, bf16 or f16; its gradient is rounded to the dtype of x. For mixed precision: parameters
/// in f32, computation in bf16. Returns x itself if it has the dtype. Throws InvalidArgument naming dtype.
[[nodiscard]] Variable cast(const Variable& x, DType dtype);

[[nodiscard]] inline Variable operator+(const Variable& a, const Variable& b) { return add(a, b); }
[[nodiscard]] inline Variable operator-(const Variable& a, const Variable& b) { return sub(a, b); }
[[nodiscard]] inline Variable operator*(const Variable& a, const Variable& b) { return mul(a, b); }
[[nodiscard]] inline Variable operator/(const Variable& a, const Variable& b) { return div(a, b); }
[[nodiscard]] inline Variable operator*(const Variable& x, double factor) { return scale(x, factor); }
[[nodiscard]] inline Variable operator*(double factor, const Variable& x) { return scale(x, factor); }
[[nodiscard]] inline Variable operator-(const Variable& x) { return neg(x); }

}  // namespace qkv
