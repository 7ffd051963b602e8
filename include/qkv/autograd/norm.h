// Normalisation of the last axis.
#pragma once

#include "qkv/autograd/variable.h"

namespace qkv {

/// (x - mean) / sqrt(var + epsilon) * weight + bias over the last axis of x [..., N]; weight and bias [N] (Ba et al.
/// 2016). They have the dtype of x, or are f32 where x is bf16 or f16, or one of these where x is f32; their gradients
/// are in their dtype. f64 in f64, else computed in f32 and rounded once. Keeps x and two numbers per row for the
/// backward pass. Throws InvalidArgument naming x, weight, bias or epsilon.
[[nodiscard]] Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias,
                                  double epsilon = 1e-5);
/// The same without a bias.
[[nodiscard]] Variable layer_norm(const Variable& x, const Variable& weight, double epsilon = 1e-5);

/// x / sqrt(mean(x^2) + epsilon) * weight, likewise (Zhang and Sennrich 2019).
[[nodiscard]] Variable rms_norm(const Variable& x, const Variable& weight, double epsilon = 1e-6);

}  // namespace qkv
