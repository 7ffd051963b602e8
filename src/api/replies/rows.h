// Matrices of a reply as lists of rows.
#pragma once

#include <vector>

#include "qkv/tensor.h"

namespace qkv::api_detail {

using Rows = std::vector<std::vector<double>>;

/// Of a matrix of any dtype and strides.
[[nodiscard]] Rows rows_of_matrix(const TensorView& matrix);
/// A matrix for each entry of the first axis, of three.
[[nodiscard]] std::vector<Rows> rows_of_matrices(const TensorView& matrices);

}  // namespace qkv::api_detail
