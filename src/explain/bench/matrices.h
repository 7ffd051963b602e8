// How a matrix of the bench is made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/explain/bench.h"

namespace qkv::explain_detail {

/// "1,2,…": the names of n columns.
[[nodiscard]] std::vector<std::string> counted(std::int64_t n);

/// A matrix with its title, meaning, role and formula, which its name gives. Throws std::out_of_range for a name that
/// the bench does not know.
[[nodiscard]] BenchMatrix named_matrix(std::string_view name, Tensor values, std::vector<std::string> rows,
                                       std::vector<std::string> columns);

/// The matrices from the inputs to the output.
[[nodiscard]] std::vector<BenchMatrix> forward_matrices(const BenchInputs& inputs);

/// Those from d_out to the gradients of the inputs; none without d_out.
[[nodiscard]] std::vector<BenchMatrix> backward_matrices(const BenchInputs& inputs,
                                                         const std::vector<BenchMatrix>& forward);

/// The query's row alone, or all rows where the pairs are few.
struct BenchRows {
  std::int64_t from = 0;
  std::int64_t to = 0;
};
[[nodiscard]] BenchRows rows_of_pairs(const BenchInputs& inputs);

}  // namespace qkv::explain_detail
