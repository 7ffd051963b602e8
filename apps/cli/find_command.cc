#include "find_command.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace qkv::cli {
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

// The word with the fewest edits (insert, delete, replace, swap of neighbours), if they are few enough for a slip of
// the hand: at most a third of the letters, rounded up.
std::optional<std::string> nearest_word(std::string_view typed, const std::vector<std::string>& known) {
  constexpr std::size_t kLongestWord = 64;
  if (typed.empty() || typed.size() > kLongestWord) return std::nullopt;
  std::optional<std::string> nearest;
  std::size_t fewest = (typed.size() + 2) / 3 + 1;
  for (const std::string& word : known) {
    const std::size_t edits = edits_between(typed, word);
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = word;
  }
  return nearest;
}

}  // namespace

const CLI::App& find_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return *command;
    names.push_back(command->get_name());
  }
  const auto nearest = nearest_word(name, names);
  const std::string hint = nearest ? "; did you mean `" + *nearest + "`?" : "; `qkv help` lists them";
  throw CLI::ParseError("there is no command `" + name + "`" + hint, CLI::ExitCodes::ExtrasError);
}

}  // namespace qkv::cli
