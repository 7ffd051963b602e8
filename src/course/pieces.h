// What the worked examples are put together from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "qkv/attention.h"
#include "qkv/course/worked.h"
#include "qkv/tensor.h"

namespace qkv::worked {

using Rows = std::vector<std::vector<double>>;

/// [n] and [rows, columns] of f64.
[[nodiscard]] Tensor vector_of(const std::vector<double>& values);
[[nodiscard]] Tensor matrix_of(const Rows& rows);

[[nodiscard]] double sum_of(const TensorView& values);
/// The sum of each row of a matrix.
[[nodiscard]] Tensor row_sums(const TensorView& matrix);

/// [T, D] as one head [1, 1, T, D] and back.
[[nodiscard]] TensorView as_head(const TensorView& matrix);
[[nodiscard]] Tensor as_matrix(const TensorView& head);

/// One head of attention over [T, D] matrices: what the notebooks compute line by line.
struct OneHead {
  Tensor raw;
  Tensor scaled;
  Tensor weights;
  Tensor out;
};
[[nodiscard]] OneHead one_head(const TensorView& q, const TensorView& k, const TensorView& v,
                               const AttentionOptions& options = {});

/// max |a - b|; infinite where the shapes differ.
[[nodiscard]] double largest_difference(const TensorView& a, const TensorView& b);

/// "0", or the power of ten that bounds it, "below 1e-08": a rounding error in a form that no other libm changes.
[[nodiscard]] std::string bound_text(double difference);

/// "0.2483", "-inf", "[0.098, 0.003]", "[[1, 2], [3, 4]]"
[[nodiscard]] std::string text_of(double value, int decimals);
[[nodiscard]] std::string text_of(const TensorView& values, int decimals);

/// The decimals of the longest number in `printed`: 3 for "[1. 0.248]".
[[nodiscard]] int decimals_of(std::string_view printed);
/// Every number in `printed`, in order; digits may be grouped by commas without a space.
[[nodiscard]] std::vector<double> numbers_of(std::string_view printed);

[[nodiscard]] WorkedTensor shown(std::string name, Tensor values, int decimals = 4);
[[nodiscard]] WorkedTensor shown(std::string name, Tensor values, const std::vector<std::string>& rows,
                                 const std::vector<std::string>& columns, int decimals = 4);

/// A figure of the seed beside the computed one. Whether it agrees is found by comparing to the last digit printed.
/// `more` is by how many decimals the computed one is shown longer.
[[nodiscard]] WorkedClaim figure(std::string what, std::string printed, const TensorView& computed,
                                 std::string remark = "", int more = 0);
[[nodiscard]] WorkedClaim figure(std::string what, std::string printed, double computed, std::string remark = "",
                                 int more = 0);

enum class Holds : bool { no, yes };
[[nodiscard]] constexpr Holds holds_if(bool condition) { return condition ? Holds::yes : Holds::no; }
/// A statement in words, and whether what was computed bears it out.
[[nodiscard]] WorkedClaim statement(std::string what, std::string printed, std::string computed, Holds holds,
                                    std::string remark = "");
[[nodiscard]] WorkedClaim not_derivable(std::string what, std::string printed, std::string computed,
                                        std::string remark);

}  // namespace qkv::worked
