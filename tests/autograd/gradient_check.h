// Gradients held against central differences, and lower precisions against f64.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "qkv/autograd/variable.h"
#include "qkv/random.h"

namespace qkv {

using Operation = std::function<Variable(const std::vector<Variable>&)>;

/// Empty, or the first place where the gradient of sum(weights * operation(inputs)) in f64 differs from the central
/// difference by more than its truncation (h^2 with h = 1e-4) and rounding (1e-16 / h) allow: 1e-6 of the largest
/// element of that gradient, or of 1. `weights` are random, so that no gradient vanishes by symmetry.
[[nodiscard]] std::string gradient_fault(const Operation& operation, const std::vector<Tensor>& inputs);

/// Empty, or what differs: the result and each gradient in `dtype` against f64 on the same rounded inputs. Allowed are
/// `steps` roundings of the dtype, relative to the largest element (f32: 2^-24 each, f16: 2^-11, and no less
/// than 2^-25, half the distance of its subnormal numbers, bf16: 2^-9).
[[nodiscard]] std::string precision_fault(const Operation& operation, const std::vector<Tensor>& inputs, DType dtype,
                                          double steps);

/// Empty, or what differs in bits between one thread and two or three: the result and each gradient in `dtype`.
[[nodiscard]] std::string threads_fault(const Operation& operation, const std::vector<Tensor>& inputs, DType dtype);

/// Standard normal numbers of f64.
[[nodiscard]] Tensor normal_numbers(std::uint64_t seed, const Shape& shape);

}  // namespace qkv
