#include "explain/bench/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "explain/numbers.h"

namespace qkv::explain_detail {
namespace {

using math::Term;

constexpr std::size_t kTermsShown = 6;

enum class Style : std::uint8_t { component, pair, row };

struct Symbol {
  std::string_view matrix;
  std::string_view letter;
  Style style;
};

constexpr std::array<Symbol, 38> kSymbols = {{
    {"embedded", "e", Style::component},
    {"encoding", "p", Style::component},
    {"concat", "y", Style::component},
    {"w_o", "W", Style::component},
    {"output", "o", Style::component},
    {"x", "x", Style::component},
    {"source", "c", Style::component},
    {"w_q", "W", Style::component},
    {"w_k", "W", Style::component},
    {"w_v", "W", Style::component},
    {"q", "q", Style::component},
    {"k", "k", Style::component},
    {"v", "v", Style::component},
    {"raw", "q·k", Style::pair},
    {"scaled", "s", Style::pair},
    {"softcapped", "s", Style::pair},
    {"biased", "s", Style::pair},
    {"masked", "s", Style::pair},
    {"max", "m", Style::row},
    {"exp", "e", Style::pair},
    {"sum", "Z", Style::row},
    {"weights", "α", Style::pair},
    {"parts", "αv", Style::component},
    {"path", "Σαv", Style::component},
    {"out", "y", Style::component},
    {"d_out", "dy", Style::component},
    {"d_v", "dv", Style::component},
    {"d_weights", "dP", Style::pair},
    {"delta", "δ", Style::row},
    {"d_scores", "dS", Style::pair},
    {"d_raw", "d(q·k)", Style::pair},
    {"d_q", "dq", Style::component},
    {"d_k", "dk", Style::component},
    {"d_w_q", "dW", Style::component},
    {"d_w_k", "dW", Style::component},
    {"d_w_v", "dW", Style::component},
    {"d_x", "dx", Style::component},
    {"d_source", "dc", Style::component},
}};

const Symbol& symbol_named(std::string_view matrix) { return *std::ranges::find(kSymbols, matrix, &Symbol::matrix); }

std::string pair_index(std::int64_t row, std::int64_t column) {
  constexpr std::int64_t kOneDigit = 8;
  const bool is_clear = row <= kOneDigit && column <= kOneDigit;
  return fmt::format("{}{}{}", row + 1, is_clear ? "" : ",", column + 1);
}

}  // namespace

std::string brief(double value) {
  constexpr double kLarge = 1e6;
  if (std::isfinite(value) && value == std::round(value) && std::abs(value) < kLarge) {
    return with_minus(fmt::format("{:.0f}", value + 0.0));
  }
  return with_minus(said(value, 3));
}

Term term_of(double value) { return math::number(brief(value)); }

Term factor_of(double value) { return value < 0 ? math::parens(term_of(value)) : term_of(value); }

Term vector_of(const std::vector<double>& values) {
  std::vector<Term> terms;
  for (std::size_t d = 0; d < std::min(values.size(), kTermsShown); ++d) terms.push_back(term_of(values[d]));
  if (values.size() > kTermsShown) terms.push_back(math::number("…"));
  return math::parens(joined(terms, ","));
}

Term joined(const std::vector<Term>& terms, std::string_view symbol) {
  Term all;
  for (std::size_t n = 0; n < terms.size(); ++n) {
    if (n > 0) all = math::row({all, math::op(symbol)});
    all = n == 0 ? terms[n] : math::row({all, terms[n]});
  }
  return all;
}

Term equation(const std::vector<Term>& sides) { return joined(sides, "="); }

Term symbol_of(const BenchPlace& place) {
  const Symbol& symbol = symbol_named(place.matrix);
  if (symbol.style == Style::row) return row_symbol(place.matrix, place.row);
  if (symbol.style == Style::pair) {
    if (place.matrix == "raw") {
      return math::row({row_symbol("q", place.row), math::op("·"), row_symbol("k", place.column)});
    }
    return math::sub(math::name(symbol.letter), math::number(pair_index(place.row, place.column)));
  }
  return math::row({row_symbol(place.matrix, place.row), math::op("["), math::number(std::to_string(place.column + 1)),
                    math::op("]")});
}

Term row_symbol(std::string_view matrix, std::int64_t row) {
  return math::sub(math::name(symbol_named(matrix).letter), math::number(std::to_string(row + 1)));
}

std::vector<double> row_of(const BenchMatrix& matrix, std::int64_t row) {
  return matrix.values.view().select(0, row - matrix.first_row).to_vector();
}

double value_at(const Bench& bench, const BenchPlace& place) {
  const BenchMatrix& matrix = bench.matrix(place.matrix);
  return matrix.values.at({place.row - matrix.first_row, place.column});
}

Term products_in_numbers(const std::vector<std::pair<double, double>>& products) {
  // A weight of 0 takes nothing, whatever the value is.
  const auto product = [](const std::pair<double, double>& one) {
    return one.first == 0 ? 0.0 : one.first * one.second;
  };
  std::vector<std::size_t> shown(products.size());
  std::iota(shown.begin(), shown.end(), 0);
  double rest = 0;
  if (products.size() > kTermsShown + 1) {
    // NaN has no order, which a sort must have; such products stand last.
    const auto size = [&](std::size_t n) {
      const double value = std::abs(product(products[n]));
      return std::isnan(value) ? -1.0 : value;
    };
    std::ranges::sort(shown,
                      [&](std::size_t a, std::size_t b) { return size(a) > size(b) || (size(a) == size(b) && a < b); });
    for (std::size_t n = kTermsShown; n < shown.size(); ++n) rest += product(products[shown[n]]);
    shown.resize(kTermsShown);
    std::ranges::sort(shown);
  }
  std::vector<Term> terms;
  for (const std::size_t n : shown) {
    terms.push_back(math::row({factor_of(products[n].first), math::op("·"), factor_of(products[n].second)}));
  }
  if (shown.size() < products.size()) {
    terms.push_back(math::row({term_of(rest), math::words(fmt::format("({} more)", products.size() - shown.size()))}));
  }
  return joined(terms, "+");
}

}  // namespace qkv::explain_detail
