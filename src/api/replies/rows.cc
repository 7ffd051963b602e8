#include "api/replies/rows.h"

namespace qkv::api_detail {

Rows rows_of_matrix(const TensorView& matrix) {
  Rows rows;
  for (std::int64_t row = 0; row < matrix.dim(0); ++row) rows.push_back(matrix.select(0, row).to_vector());
  return rows;
}

std::vector<Rows> rows_of_matrices(const TensorView& matrices) {
  std::vector<Rows> all;
  for (std::int64_t n = 0; n < matrices.dim(0); ++n) all.push_back(rows_of_matrix(matrices.select(0, n)));
  return all;
}

}  // namespace qkv::api_detail
