#include "explain/bench/rules.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "core/place_text.h"

namespace qkv::explain_detail {
namespace {

using Patterns = std::vector<Pattern>;

bool has(const Bench& bench, std::string_view matrix) { return bench.find(matrix) != nullptr; }

// What stands before a stage of the scores.
std::string scores_before(const Bench& bench, std::string_view stage) {
  std::string before = "raw";
  for (const std::string_view one : {"scaled", "softcapped", "biased", "masked"}) {
    if (one == stage) return before;
    if (has(bench, one)) before = one;
  }
  return before;
}

Patterns of_projection(const Bench& bench, std::string_view matrix) {
  if (!has(bench, "x")) return {};
  const bool is_query = matrix == "q";
  const std::string side = !is_query && has(bench, "source") ? "source" : "x";
  return {{side, 'i', '*'}, {fmt::format("w_{}", matrix), '*', 'j'}};
}

Patterns of_weight_gradient(const Bench& bench, char letter) {
  const std::string side = letter != 'q' && has(bench, "source") ? "source" : "x";
  return {{side, '*', 'i'}, {fmt::format("d_{}", letter), '*', 'j'}};
}

Patterns of_side_gradient(const Bench& bench, std::string_view matrix) {
  Patterns patterns;
  const bool is_cross = has(bench, "source");
  for (const char letter : {'q', 'k', 'v'}) {
    const bool is_of_x = letter == 'q' || !is_cross;
    if (is_of_x != (matrix == "d_x")) continue;
    patterns.push_back({fmt::format("d_{}", letter), 'i', '*'});
    patterns.push_back({fmt::format("w_{}", letter), 'j', '*'});
  }
  return patterns;
}

std::optional<Patterns> products_of(const Bench& bench, std::string_view matrix) {
  if (matrix == "q" || matrix == "k" || matrix == "v") return of_projection(bench, matrix);
  if (matrix == "raw") return Patterns{{"q", 'i', '*'}, {"k", 'j', '*'}};
  if (matrix == "parts") return Patterns{{"weights", 'q', 'i'}, {"v", 'i', 'j'}};
  if (matrix == "out") return Patterns{{"weights", 'i', '*'}, {"v", '*', 'j'}};
  if (matrix == "output") return Patterns{{"concat", 'i', '*'}, {"w_o", '*', 'j'}};
  if (matrix == "d_v") return Patterns{{"weights", '*', 'i'}, {"d_out", '*', 'j'}};
  if (matrix == "d_weights") return Patterns{{"d_out", 'i', '*'}, {"v", 'j', '*'}};
  if (matrix == "delta") return Patterns{{"weights", 'i', '*'}, {"d_weights", 'i', '*'}};
  if (matrix == "d_q") return Patterns{{"d_raw", 'i', '*'}, {"k", '*', 'j'}};
  if (matrix == "d_k") return Patterns{{"d_raw", '*', 'i'}, {"q", '*', 'j'}};
  if (matrix.starts_with("d_w_")) return of_weight_gradient(bench, matrix.back());
  if (matrix == "d_x" || matrix == "d_source") return of_side_gradient(bench, matrix);
  return std::nullopt;
}

Patterns others_of(const Bench& bench, std::string_view matrix) {
  const std::string scores = last_scores(bench);
  if (matrix == "scaled" || matrix == "softcapped" || matrix == "biased" || matrix == "masked") {
    return {{scores_before(bench, matrix), 'i', 'j'}};
  }
  if (matrix == "x" && has(bench, "embedded")) return {{"embedded", 'i', 'j'}, {"encoding", 'i', 'j'}};
  if (matrix == "max") return {{scores, 'i', '*'}};
  if (matrix == "exp") return {{scores, 'i', 'j'}, {"max", 'i', '0'}};
  if (matrix == "sum") return {{"exp", 'i', '*'}};
  if (matrix == "weights") return {{"exp", 'i', 'j'}, {"sum", 'i', '0'}};
  if (matrix == "path") return {{"parts", '*', 'j'}};
  if (matrix == "d_scores") return {{"weights", 'i', 'j'}, {"d_weights", 'i', 'j'}, {"delta", 'i', '0'}};
  if (matrix == "d_raw") return {{"d_scores", 'i', 'j'}};
  return {};
}

std::string index_text(char index, const Bench& bench, const BenchPlace& place) {
  switch (index) {
    case 'i':
      return std::to_string(place.row);
    case 'j':
      return std::to_string(place.column);
    case 'q':
      return std::to_string(bench.inputs().query);
    default:
      return std::string(1, index);
  }
}

/// The numbers of `matrix` that have `place` among their sources by this pattern, as a name; none where there are none.
std::optional<std::string> inverse(const Bench& bench, const std::string& matrix, const Pattern& pattern,
                                   const BenchPlace& place) {
  std::array<std::string, 2> at = {"*", "*"};
  for (const auto& [index, value] : {std::pair{pattern.row, place.row}, std::pair{pattern.column, place.column}}) {
    if (index == 'i') at[0] = std::to_string(value);
    if (index == 'j') at[1] = std::to_string(value);
    if (index == '0' && value != 0) return std::nullopt;
    if (index == 'q' && value != bench.inputs().query) return std::nullopt;
  }
  return fmt::format("{}:{},{}", matrix, at[0], at[1]);
}

}  // namespace

std::string last_scores(const Bench& bench) {
  std::string last = "scaled";
  for (const std::string_view one : {"softcapped", "biased", "masked"}) {
    if (has(bench, one)) last = one;
  }
  return last;
}

Rule rule_of(const Bench& bench, std::string_view matrix) {
  if (auto products = products_of(bench, matrix)) return {std::move(*products), true};
  return {others_of(bench, matrix), false};
}

BenchPlace place_named(const Bench& bench, std::string_view name) {
  const auto refuse = [&](const std::string& expected) {
    throw InvalidArgument("bench", "of", expected, "\"" + std::string(name) + "\"");
  };
  const auto written = core::place_from(name);
  if (!written) refuse("MATRIX:ROW,COLUMN, such as weights:1,2");
  const auto& [matrix_name, row, column] = *written;
  const BenchMatrix& matrix = bench.matrix(matrix_name);
  const std::int64_t from = matrix.first_row;
  const std::int64_t to = from + matrix.values.dim(0);
  if (row < from || row >= to || column >= matrix.values.dim(1)) {
    refuse(fmt::format("a row from {} to {} and a column from 0 to {} of {}", from, to - 1, matrix.values.dim(1) - 1,
                       matrix.name));
  }
  return {matrix.name, row, column};
}

std::vector<std::string> sources_of(const Bench& bench, const BenchPlace& place) {
  std::vector<std::string> names;
  for (const Pattern& pattern : rule_of(bench, place.matrix).sources) {
    names.push_back(fmt::format("{}:{},{}", pattern.matrix, index_text(pattern.row, bench, place),
                                index_text(pattern.column, bench, place)));
  }
  return names;
}

std::vector<std::string> uses_of(const Bench& bench, const BenchPlace& place) {
  std::vector<std::string> names;
  for (const BenchMatrix& matrix : bench.matrices()) {
    for (const Pattern& pattern : rule_of(bench, matrix.name).sources) {
      if (pattern.matrix != place.matrix) continue;
      if (auto name = inverse(bench, matrix.name, pattern, place)) names.push_back(std::move(*name));
    }
  }
  return names;
}

}  // namespace qkv::explain_detail
