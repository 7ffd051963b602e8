// Every option of every command with a value that has no meaning: the error names it, as it was written.
#include <gmock/gmock.h>

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command.h"

namespace qkv::options_test {
namespace {

using testing::AllOf;
using testing::Gt;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using tests::Outcome;
using tests::run_qkv;

struct Option {
  std::vector<std::string> command;
  std::string name, type;
};

std::string text_between(const std::string& line, const std::string& begin, const std::string& end) {
  const std::size_t at = line.find(begin) + begin.size();
  return line.substr(at, line.find(end, at) - at);
}

// Of the tables that `qkv help --describe` prints.
std::vector<Option> all_options() {
  std::vector<Option> options;
  std::vector<std::string> command;
  std::istringstream lines(run_qkv({"help", "--describe"}).out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("### ")) {
      std::istringstream words(text_between(line, "`qkv ", "`"));
      command.clear();
      for (std::string word; words >> word;) command.push_back(word);
    }
    if (!line.starts_with("| `--")) continue;
    const std::string name = text_between(line, "`", "`");
    options.push_back({command, name, text_between(line, "` | ", " |")});
  }
  return options;
}

// A value without a meaning; none of a text, which may be anything.
std::optional<std::string> wrong_value(const std::string& type) {
  if (type == "true or false") return "maybe";
  if (type.starts_with("text") || type.starts_with("list of texts")) return std::nullopt;
  return "x7";
}

TEST(Options, AreNamedWhereTheirValuesHaveNoMeaning) {
  const std::vector<Option> options = all_options();
  ASSERT_THAT(options, SizeIs(Gt(200)));
  for (const Option& option : options) {
    const std::optional<std::string> wrong = wrong_value(option.type);
    if (!wrong) continue;
    std::vector<std::string> words = option.command;
    words.push_back(option.name + "=" + *wrong);
    std::string name = "qkv";
    for (const std::string& word : option.command) name += " " + word;
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 2) << name << " " << option.name;
    EXPECT_THAT(outcome.err, StartsWith(name + ": " + option.name + ": expected "));
    EXPECT_THAT(outcome.err, testing::HasSubstr(*wrong));
  }
}

// The cells of a row; \| parts none.
std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells(1);
  for (std::size_t n = 1; n < row.size(); ++n) {
    if (row[n] == '|' && row[n - 1] != '\\') {
      cells.emplace_back();
    } else {
      cells.back() += row[n];
    }
  }
  return cells;
}

TEST(Options, HaveHelpBoundsAndAnExample) {
  std::istringstream lines(run_qkv({"help", "--describe"}).out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::vector<std::string> cells = cells_of(line);
    ASSERT_THAT(cells, SizeIs(6)) << line;  // field, type, default, example, what, and what is behind the row
    EXPECT_THAT(cells[3], AllOf(StartsWith(" `"), Not(StartsWith(" ``")))) << line;
    EXPECT_NE(cells[3], cells[2]) << line;
    EXPECT_NE(cells[4], "  ") << line;
    if (cells[1].starts_with(" whole number") || cells[1].starts_with(" number from")) {
      EXPECT_THAT(cells[1], testing::HasSubstr(" from ")) << line;
    }
    EXPECT_NE(cells[1], " number ") << line;
  }
}

}  // namespace
}  // namespace qkv::options_test
