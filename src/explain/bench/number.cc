// One number of the bench written out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "explain/bench/terms.h"
#include "explain/numbers.h"

namespace qkv {
namespace {

using namespace explain_detail;
using math::Term;

/// The numbers that a pattern stands for, seen from a place; none where only the query's row of the matrix is kept.
std::optional<std::vector<double>> numbers_of(const Bench& bench, const Pattern& pattern, const BenchPlace& place) {
  const BenchMatrix& matrix = bench.matrix(pattern.matrix);
  const auto index = [&](char which) {
    return which == 'i' ? place.row : which == 'j' ? place.column : which == 'q' ? bench.inputs().query : 0;
  };
  std::vector<double> numbers;
  if (pattern.row == '*') {
    const bool has_one_row_alone = matrix.hidden && matrix.values.dim(0) < bench.inputs().q.dim(2);
    if (has_one_row_alone) return std::nullopt;
    const Tensor column(matrix.values.view().select(1, index(pattern.column)));
    return column.to_vector();
  }
  if (pattern.column == '*') return explain_detail::row_of(matrix, index(pattern.row));
  return std::vector{value_at(bench, {pattern.matrix, index(pattern.row), index(pattern.column)})};
}

std::optional<Term> products_of(const Bench& bench, const Rule& rule, const BenchPlace& place) {
  std::vector<std::pair<double, double>> products;
  for (std::size_t n = 0; n + 1 < rule.sources.size(); n += 2) {
    const auto a = numbers_of(bench, rule.sources[n], place);
    const auto b = numbers_of(bench, rule.sources[n + 1], place);
    if (!a || !b || a->size() != b->size()) return std::nullopt;
    for (std::size_t at = 0; at < a->size(); ++at) products.emplace_back((*a)[at], (*b)[at]);
  }
  return products_in_numbers(products);
}

double at(const Bench& bench, const std::string& matrix, const BenchPlace& place) {
  return value_at(bench,
                  {matrix, place.row, matrix == "max" || matrix == "sum" || matrix == "delta" ? 0 : place.column});
}

Term scaled_term(const Bench& bench, double number) {
  const std::int64_t width = bench.inputs().q.dim(3);
  if (bench.inputs().options.scale) return math::row({factor_of(number), math::op("·"), factor_of(bench.scale())});
  return math::fraction(term_of(number), math::root(math::number(std::to_string(width))));
}

Term list_of(const Bench& bench, const Rule& rule, const BenchPlace& place, std::string_view symbol) {
  constexpr std::size_t kMost = 7;
  std::vector<double> numbers = *numbers_of(bench, rule.sources.front(), place);
  if (place.matrix == "path") numbers.resize(static_cast<std::size_t>(place.row) + 1);
  std::vector<Term> terms;
  for (const double number : numbers) {
    if (terms.size() == kMost && numbers.size() > kMost + 1) {
      terms.push_back(math::number("…"));
      break;
    }
    terms.push_back(symbol == "+" ? factor_of(number) : term_of(number));
  }
  return joined(terms, symbol);
}

Term softcapped_term(const Bench& bench, double score) {
  const Term cap = term_of(*bench.inputs().options.softcap);
  return math::row({cap, math::op("·"), math::call("tanh", math::row({factor_of(score), math::op("/"), cap}))});
}

Term raw_gradient_term(const Bench& bench, const BenchPlace& place) {
  const double gradient = at(bench, "d_scores", place);
  if (!bench.inputs().options.softcap) return scaled_term(bench, gradient);
  return math::row({factor_of(gradient), math::op("·"), math::parens(math::typeset("1 − tanh^2(S / c)")), math::op("·"),
                    factor_of(bench.scale())});
}

Term other_term(const Bench& bench, const Rule& rule, const BenchPlace& place) {
  const std::string& matrix = place.matrix;
  const auto before = [&] { return at(bench, rule.sources.front().matrix, place); };
  const double value = value_at(bench, place);
  if (matrix == "scaled") return scaled_term(bench, before());
  if (matrix == "softcapped") return softcapped_term(bench, before());
  if (matrix == "biased") return math::row({factor_of(before()), math::op("+"), factor_of(value - before())});
  if (matrix == "x") return math::row({factor_of(before()), math::op("+"), factor_of(value - before())});
  if (matrix == "max") return math::call("max", list_of(bench, rule, place, ","));
  if (matrix == "exp") {
    return math::sup(math::name("e"),
                     math::row({factor_of(before()), math::op("−"), factor_of(at(bench, "max", place))}));
  }
  if (matrix == "sum" || matrix == "path") return list_of(bench, rule, place, "+");
  if (matrix == "weights") return math::fraction(term_of(at(bench, "exp", place)), term_of(at(bench, "sum", place)));
  if (matrix == "d_scores") {
    return math::row({factor_of(at(bench, "weights", place)), math::op("·"),
                      math::parens(math::row({factor_of(at(bench, "d_weights", place)), math::op("−"),
                                              factor_of(at(bench, "delta", place))}))});
  }
  if (matrix == "d_raw") return raw_gradient_term(bench, place);
  return term_of(value);
}

bool is_hidden(const BenchMatrix& matrix, const BenchPlace& place) {
  return matrix.hidden && matrix.hidden->at({place.row - matrix.first_row, place.column}) != 0;
}

// Of a row that sees nothing: its powers of e and its weights are 0, and no quotient or power of −∞ says why.
bool has_no_formula(const Bench& bench, const BenchPlace& place) {
  if (place.matrix == "exp") return std::isinf(at(bench, "max", place));
  return place.matrix == "weights" && at(bench, "sum", place) == 0;
}

Formula formula_of(const Bench& bench, const BenchPlace& place) {
  const Rule rule = rule_of(bench, place.matrix);
  const Term value = term_of(value_at(bench, place));
  std::vector<Term> sides = {symbol_of(place)};
  if (rule.is_products) {
    if (const auto products = products_of(bench, rule, place); products && !rule.sources.empty()) {
      sides.push_back(*products);
    }
  } else if (!rule.sources.empty() && place.matrix != "masked" && !has_no_formula(bench, place)) {
    sides.push_back(other_term(bench, rule, place));
  }
  if (sides.back().text != value.text) sides.push_back(value);
  return equation(sides);
}

std::string meaning_of(const Bench& bench, const BenchMatrix& matrix, const BenchPlace& place) {
  const std::string& row = matrix.rows[static_cast<std::size_t>(place.row - matrix.first_row)];
  const std::string& column = matrix.columns[static_cast<std::size_t>(place.column)];
  const bool is_pair = matrix.columns.size() == bench.inputs().keys.size() && (matrix.hidden || matrix.name == "delta");
  if (is_hidden(matrix, place)) return fmt::format("The mask hides “{}” from “{}”.", column, row);
  if (is_pair) return fmt::format("Query “{}”, key “{}”: {}.", row, column, matrix.meaning);
  if (column.empty()) return fmt::format("“{}”: {}.", row, matrix.meaning);
  return fmt::format("Number {} of “{}”: {}.", column, row, matrix.meaning);
}

// "20000", "3.4 million", "4.9 × 10²¹".
std::string count_in_words(double count) {
  constexpr double kMillion = 1e6;
  constexpr double kBillion = 1e9;
  if (count < kMillion) return fmt::format("{:.0f}", count);
  return count < kBillion ? fmt::format("{:.1f} million", count / kMillion) : shown(count, 0);
}

// "0.4011"; of what is tiny, also one in how many.
std::string in_full_words(double value) {
  constexpr double kTiny = 1e-4;
  if (!std::isfinite(value) || value == 0 || std::abs(value) >= kTiny) return with_minus(shown(value, 4));
  return with_minus(fmt::format("{}, 1 in {}", said(value, 4), count_in_words(1 / std::abs(value))));
}

// Whether the number comes from a row of a matrix of pairs that the bench, of a longer text, keeps of its query alone.
bool comes_from_another_query(const Bench& bench, const BenchPlace& place) {
  const Rule rule = rule_of(bench, place.matrix);
  return std::ranges::any_of(rule.sources, [&](const Pattern& source) {
    if (source.row != 'i') return false;
    const BenchMatrix& matrix = bench.matrix(source.matrix);
    return place.row < matrix.first_row || place.row >= matrix.first_row + matrix.values.dim(0);
  });
}

}  // namespace

BenchNumber Bench::number(std::string_view name) const {
  const BenchPlace place = place_named(*this, name);
  if (comes_from_another_query(*this, place)) {
    BenchInputs inputs = this->inputs();
    inputs.query = place.row;
    return Bench(std::move(inputs)).number(name);
  }
  const BenchMatrix& matrix = this->matrix(place.matrix);
  const double value = value_at(*this, place);
  return {.name = std::string(name),
          .label = symbol_of(place).text,
          .value = std::isfinite(value) ? std::optional(value) : std::nullopt,
          .shown = in_full_words(value),
          .full = fmt::format("{}", value),
          .formula = formula_of(*this, place),
          .meaning = meaning_of(*this, matrix, place),
          .sources = sources_of(*this, place),
          .uses = uses_of(*this, place)};
}

}  // namespace qkv
