#include "view/number_lists.h"

#include <fmt/format.h>

#include "qkv/number_text.h"
#include "view/refuse.h"

namespace qkv::view_detail {

std::vector<std::int64_t> whole_numbers(std::string_view field, std::string_view text, std::string_view otherwise) {
  std::vector<std::int64_t> values;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const auto value = number_from<std::int64_t>(word);
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
  const auto numbers = numbers_from<std::int64_t>(text, 'x');
  const bool fits = numbers && numbers->size() <= 2 && numbers->front() >= 1 && numbers->back() >= 1;
  if (!fits) refuse(field, expected, text);
  return {numbers->front(), numbers->back()};
}

}  // namespace qkv::view_detail
