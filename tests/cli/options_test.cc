// Every option of every command with a value that has no meaning: the error names it, as it was written.
#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/described_options.h"

namespace qkv::options_test {
namespace {

using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using tests::described_options;
using tests::DescribedOption;
using tests::Outcome;
using tests::run_qkv;

// A value without a meaning; none of a text, which may be anything.
std::optional<std::string> wrong_value(const std::string& type) {
  if (type == "true or false") return "maybe";
  if (type.starts_with("text") || type.starts_with("list of texts")) return std::nullopt;
  return "x7";
}

TEST(Options, AreNamedWhereTheirValuesHaveNoMeaning) {
  const std::vector<DescribedOption> options = described_options();
  ASSERT_THAT(options, SizeIs(Gt(200)));
  for (const DescribedOption& option : options) {
    const std::optional<std::string> wrong = wrong_value(option.type);
    if (!wrong || option.is_place()) continue;
    std::vector<std::string> words = option.command_words();
    words.push_back(option.name + "=" + *wrong);
    const std::string name = "qkv " + option.command;
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 2) << name << " " << option.name;
    EXPECT_THAT(outcome.err, StartsWith(name + ": " + option.name + ": expected "));
    EXPECT_THAT(outcome.err, HasSubstr(*wrong));
  }
}

TEST(Options, HaveHelpBoundsAndAnExample) {
  for (const DescribedOption& option : described_options()) {
    const std::string what = option.command + " " + option.name;
    EXPECT_THAT(option.example, Not(IsEmpty())) << what;
    EXPECT_NE(option.example, option.fallback) << what;
    EXPECT_THAT(option.help, Not(IsEmpty())) << what;
    const bool is_number = option.type.find("number") != std::string::npos;
    if (!is_number) continue;
    EXPECT_THAT(option.bounds, Not(IsEmpty())) << what;
  }
}

}  // namespace
}  // namespace qkv::options_test
