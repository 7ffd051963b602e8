#include "core/nearest_word.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "qkv/error.h"

namespace qkv::core {
namespace {

// Damerau-Levenshtein with adjacent swaps: the usual table, one row for each letter of `a`.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace

std::optional<std::string_view> nearest_word(std::string_view typed, std::span<const std::string_view> known) {
  constexpr std::size_t kLongestWord = 64;
  if (typed.empty() || typed.size() > kLongestWord) return std::nullopt;
  std::optional<std::string_view> nearest;
  std::size_t fewest = (typed.size() + 1) / 3 + 1;
  for (const std::string_view word : known) {
    const std::size_t edits = edits_between(typed, word);
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = word;
  }
  return nearest;
}

void refuse_word(std::string_view function, std::string_view argument, std::string_view typed,
                 std::span<const std::string_view> known) {
  std::string expected;
  for (const std::string_view word : known) expected.append(expected.empty() ? "one of " : ", ").append(word);
  std::string got = "\"" + std::string(typed) + "\"";
  if (const auto nearest = nearest_word(typed, known)) got.append("; did you mean ").append(*nearest).append("?");
  throw InvalidArgument(function, argument, expected, got);
}

}  // namespace qkv::core
