#include "api/fields/number_lists.h"

#include <fmt/format.h>

#include "api/fields/refuse.h"
#include "core/number_text.h"
#include "core/shortened.h"

namespace qkv::api_detail {
namespace {

constexpr const char* kRectangle = "I0:I1,J0:J1, queries and keys from I0 and J0 on";

std::pair<std::int64_t, std::int64_t> range_of(std::string_view field, std::string_view text, std::string_view whole) {
  const auto ends = core::numbers_from<std::int64_t>(text, ':');
  const bool fits = ends && ends->size() == 2 && ends->front() >= 0 && ends->front() < ends->back();
  if (!fits) refuse(field, kRectangle, whole);
  return {ends->front(), ends->back()};
}

}  // namespace

MapArea rectangle_of(std::string_view field, std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) refuse(field, kRectangle, text);
  const auto [i_begin, i_end] = range_of(field, text.substr(0, comma), text);
  const auto [j_begin, j_end] = range_of(field, text.substr(comma + 1), text);
  return {.i_begin = i_begin, .i_end = i_end, .j_begin = j_begin, .j_end = j_end};
}

std::vector<std::int64_t> whole_numbers(std::string_view field, std::string_view text, std::string_view otherwise) {
  std::vector<std::int64_t> values;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const auto value = core::number_from<std::int64_t>(word);
    if (!value || *value < 0) {
      refuse(field, fmt::format("whole numbers, 0 or more, with commas between them{}", otherwise),
             fmt::format("\"{}\"", word));
    }
    values.push_back(*value);
    if (comma == std::string_view::npos) return values;
    text.remove_prefix(comma + 1);
  }
}

std::pair<std::int64_t, std::int64_t> extents(std::string_view field, std::string_view text,
                                              std::string_view expected) {
  const auto numbers = core::numbers_from<std::int64_t>(text, 'x');
  const bool fits = numbers && numbers->size() <= 2 && numbers->front() >= 1 && numbers->back() >= 1;
  if (!fits) refuse(field, expected, text);
  return {numbers->front(), numbers->back()};
}

Tensor matrix_in(std::string_view field, std::string_view text) {
  std::vector<double> values;
  std::int64_t rows = 0;
  for (std::string_view rest = text;; ++rows) {
    const std::size_t semicolon = rest.find(';');
    const std::string_view line = rest.substr(0, semicolon);
    const auto row = core::numbers_from<double>(line, ',');
    if (!row) {
      refuse(field, "rows of numbers, as 1,0;0,1", fmt::format("\"{}\" in row {}", core::shortened(line), rows + 1));
    }
    if (rows > 0 && static_cast<std::int64_t>(values.size()) != rows * std::ssize(*row)) {
      refuse(field,
             fmt::format("{} numbers in row {}, as in those before it", static_cast<std::int64_t>(values.size()) / rows,
                         rows + 1),
             std::to_string(row->size()));
    }
    values.insert(values.end(), row->begin(), row->end());
    if (semicolon == std::string_view::npos) break;
    rest.remove_prefix(semicolon + 1);
  }
  ++rows;
  return {values, {rows, static_cast<std::int64_t>(values.size()) / rows}};
}

}  // namespace qkv::api_detail
