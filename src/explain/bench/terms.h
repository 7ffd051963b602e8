// Numbers of the bench in formulas.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/bench/rules.h"
#include "explain/formula.h"

namespace qkv::explain_detail {

/// "1", "0.401", "2.9 × 10⁻⁷": whole numbers as such.
[[nodiscard]] std::string brief(double value);
[[nodiscard]] math::Term term_of(double value);
/// In parentheses where it is negative.
[[nodiscard]] math::Term factor_of(double value);
/// "(0.797, 1.604)"; of more than six numbers the first six and "…".
[[nodiscard]] math::Term vector_of(const std::vector<double>& values);
[[nodiscard]] math::Term joined(const std::vector<math::Term>& terms, std::string_view symbol);
[[nodiscard]] math::Term equation(const std::vector<math::Term>& sides);

/// One letter with subscripts from 1: α₂₃, q₂ (a row), y₂[1] (a number of it).
[[nodiscard]] math::Term symbol_of(const BenchPlace& place);
[[nodiscard]] math::Term row_symbol(std::string_view matrix, std::int64_t row);

/// The numbers of a row.
[[nodiscard]] std::vector<double> row_of(const BenchMatrix& matrix, std::int64_t row);
[[nodiscard]] double value_at(const Bench& bench, const BenchPlace& place);

/// The terms of a sum of products in numbers; the six of largest size, and what the others add up to.
[[nodiscard]] math::Term products_in_numbers(const std::vector<std::pair<double, double>>& products);

}  // namespace qkv::explain_detail
