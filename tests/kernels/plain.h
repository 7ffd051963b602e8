// What the error of a kernel is measured against.
#pragma once

#include "kernels/problem.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

struct Results {
  Tensor out;
  Tensor lse;
};

/// The plain loops of cases/plain.h: f32, with weights and out rounded to q's dtype.
[[nodiscard]] Results plain(const Problem& problem, const TensorView& v);

/// The reference's, in f64.
[[nodiscard]] Results exact(const Problem& problem, const TensorView& v);

/// The largest difference between two results; infinite where one holds a NaN or an infinity that the other does not.
[[nodiscard]] double error_of(const TensorView& got, const TensorView& expected);

/// The root of the mean squared difference.
[[nodiscard]] double rms_error(const TensorView& got, const TensorView& expected);

}  // namespace qkv::kernels
