// Every option of every command with values that have no meaning, and with the last that have one: the error names the
// option as it was written, and says the bounds that docs/api.md has.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli/asked.h"
#include "cli/command.h"
#include "cli/described_options.h"
#include "cli/effects.h"
#include "qkv/api/questions.h"

namespace qkv::options_test {
namespace {

using testing::AnyOf;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using tests::described_options;
using tests::DescribedOption;
using tests::Effects;
using tests::Outcome;
using tests::read_effects;
using tests::Reply;
using tests::run_qkv;
using tests::Words;

bool is_number(const DescribedOption& option) { return option.type.find("number") != std::string::npos; }

TEST(Options, AreNamedWhereTheirValuesAreOfNoType) {
  const std::vector<DescribedOption> options = described_options();
  ASSERT_THAT(options, SizeIs(Gt(200)));
  for (const DescribedOption& option : options) {
    if (option.is_place() || !(option.is_flag() || is_number(option))) continue;
    const std::string wrong = option.is_flag() ? "maybe" : "x7";
    Words words = option.command_words();
    words.push_back(option.name + "=" + wrong);
    const std::string name = "qkv " + option.command;
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 2) << name << " " << option.name;
    EXPECT_THAT(outcome.err, StartsWith(name + ": " + option.name + ": expected "));
    EXPECT_THAT(outcome.err, HasSubstr(wrong));
  }
}

// What help says of an option, in one line.
std::string row_of(const std::string& help, const DescribedOption& option) {
  const std::regex row("\n  (-[a-z], )?" + option.name + "[ ,=\\[](.|\n)*?(?=\n  [-A-Z]|\n\n|$)");
  std::smatch found;
  if (!std::regex_search(help, found, row)) return "";
  return std::regex_replace(found.str(), std::regex("\\s+"), " ");
}

// But for a count that is as large as one likes.
TEST(Options, HaveTheirBoundsInHelp) {
  std::map<std::string, std::string> helps;
  int walked = 0;
  for (const DescribedOption& option : described_options()) {
    if (option.is_place() || option.bounds.empty()) continue;
    if (std::regex_search(option.bounds, std::regex("1099511627776|18446744073709551615|e38|PiB"))) continue;
    std::string& help = helps[option.command];
    Words words = option.command_words();
    words.emplace_back("--help");
    if (help.empty()) help = run_qkv(words).out;
    const std::string row = row_of(help, option);
    const std::string what = option.command + " " + option.name + ", " + option.bounds + ": " + row;
    ++walked;
    if (is_number(option)) {
      EXPECT_THAT(row, HasSubstr("; " + option.bounds)) << what;
      continue;
    }
    const std::regex word("[^ ,|]+");
    for (std::sregex_iterator it(option.bounds.begin(), option.bounds.end(), word), end; it != end; ++it) {
      EXPECT_THAT(row + " or", HasSubstr(it->str())) << what;
    }
  }
  EXPECT_GT(walked, 100);
}

TEST(Options, OfWordsOrWholeNumbersTakeEachOnce) {
  std::int64_t lists = 0;
  for (const Question& question : questions()) {
    if (question.command.empty() || question.command.starts_with("view")) continue;
    for (const FieldInfo& field : question.fields) {
      const bool is_of_words = field.type == FieldType::texts && !field.words.empty();
      if (!is_of_words && field.type != FieldType::wholes) continue;
      ++lists;
      std::string option = "--" + (field.option.empty() ? field.name : field.option);
      std::ranges::replace(option, '_', '-');
      const std::string one = is_of_words ? field.words.back() : "8";
      std::string command = question.command;
      Words words = {command.substr(0, command.find(' '))};
      if (command.find(' ') != std::string::npos) words.push_back(command.substr(command.find(' ') + 1));
      words.insert(words.end(), {option, one, option + "=" + one});
      const std::string expected =
          is_of_words ? "each word once, got \"" + one + "\" twice\n" : "each number once, got 8 twice\n";
      EXPECT_EQ(run_qkv(words).err, "qkv " + command + ": " + option + ": expected " + expected);
    }
  }
  EXPECT_GT(lists, 4);
}

TEST(Options, HaveHelpBoundsAndAnExample) {
  for (const DescribedOption& option : described_options()) {
    const std::string what = option.command + " " + option.name;
    EXPECT_THAT(option.example, Not(IsEmpty())) << what;
    EXPECT_NE(option.example, option.fallback) << what;
    EXPECT_THAT(option.help, Not(IsEmpty())) << what;
    if (!is_number(option)) continue;
    EXPECT_THAT(option.bounds, Not(IsEmpty())) << what;
  }
}

// What says where an answer goes, how it is shown, and what the machine gives for it. No answer depends on any of them.
const std::set<std::string>& of_the_command() {
  static const std::set<std::string> kAll = {
      // Fields by another word.
      "mask EXPR", "match IMAGE CAPTION",
      // Of the machine, whose owner says it once for all questions: docs/api.md.
      "--threads",
      // How an answer is shown.
      "--json", "--quiet", "--print", "--plot", "--terminal", "--color", "--color-scale", "--width", "info --tensors",
      // Where it goes.
      "--html", "--png", "--svg", "--pdf", "analyze --csv", "probe --npy", "probe --npz", "embed --out", "match --out",
      "attend --out", "attend --lse", "attend --weights", "attend --scores", "attend --present-k", "attend --present-v",
      "attend --gradients",
      // Of the server.
      "view --file", "view --root", "view --host", "view --port", "view --frame", "view --no-open", "view --describe"};
  return kAll;
}

TEST(Options, AreFieldsOfTheQuestionOrOfTheCommandAlone) {
  std::set<std::string> unused = of_the_command();
  for (const DescribedOption& option : described_options()) {
    const auto question = std::ranges::find(questions(), option.command, &Question::command);
    if (question == questions().end()) continue;  // help
    const bool is_field = std::ranges::any_of(question->fields, [&](const FieldInfo& field) {
      std::string word = field.option.empty() ? field.name : field.option;
      std::ranges::replace(word, '_', '-');
      std::string place = word;
      std::ranges::transform(place, place.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      return option.name == "--" + word || option.name == place;
    });
    const std::string whole = option.command + " " + option.name;
    EXPECT_TRUE(is_field || of_the_command().contains(option.name) || of_the_command().contains(whole)) << whole;
    if (is_field) continue;
    unused.erase(option.name);
    unused.erase(whole);
  }
  EXPECT_THAT(unused, IsEmpty());
}

/// What an option takes at its ends, and what it does not.
struct Ends {
  Words inside, outside;
};

// "1 to 65536", "from 0, below 1", "above 0, up to 1e38". The upper end of whole numbers would take years.
Ends ends_of(const DescribedOption& option) {
  static const std::regex kBounds(R"((above |from )?(\S+?)(?: to |, up to |, (below) )(\S+))");
  std::smatch parts;
  if (!std::regex_match(option.bounds, parts, kBounds)) return {};
  const std::string least = parts[2], most = parts[4];
  if (option.type == "number of bytes") return {{least, most}, {"-1", "1" + most}};
  if (option.type.find("whole") != std::string::npos) {
    const bool is_seed = most == "18446744073709551615";
    const std::string beyond = is_seed ? "18446744073709551616" : std::to_string(std::stoll(most) + 1);
    return {is_seed ? Words{least, most} : Words{least}, {std::to_string(std::stoll(least) - 1), beyond}};
  }
  const bool is_above = parts[1] == "above ", is_below = parts[3].matched;
  return {{is_above ? "1e-30" : least, is_below ? "0.999" : most},
          {is_above       ? least
           : least == "0" ? "-0.001"
                          : "-2e38",
           is_below ? most : "2" + most}};
}

class ValueTest : public tests::Asked, public testing::WithParamInterface<std::string> {
 protected:
  // The words with which effects.txt tries the option, with this value of it; nullopt where it is no part of them.
  [[nodiscard]] std::optional<Words> with_value(const DescribedOption& option, const std::string& value) const {
    Words words = effects_.after(option);
    const auto at = std::ranges::find_if(
        words, [&](const std::string& word) { return word == option.name || word.starts_with(option.name + "="); });
    if (at == words.end()) return std::nullopt;
    if (*at == option.name) words.erase(at + 1);
    *at = option.name + "=" + value;
    return words;
  }

  [[nodiscard]] std::vector<DescribedOption> options() const {
    std::vector<DescribedOption> options = described_options();
    std::erase_if(options, [&](const DescribedOption& one) { return one.command != GetParam() || one.is_place(); });
    return options;
  }

  [[nodiscard]] static std::string named(const DescribedOption& option) {
    return "qkv " + option.command + ": " + option.name + ": expected ";
  }

 private:
  Effects effects_ = read_effects();
};

// Options whose least value something else refuses, and why.
const std::map<std::string, std::string>& bound_by_others() {
  static const std::map<std::string, std::string> kAll = {
      {"attend --memory-limit", "the weights that are asked for take more"},
      {"bench positions --train-length", "the task has lengths of its own"},
      {"bench positions --test-lengths", "the task has lengths of its own"},
      {"bench positions --d-model", "a multiple of twice the heads"},
      {"cost --d-model", "a multiple of the preset's heads"},
      {"cost --to", "more than --from"},
      {"cost --vocab", "a preset with an output head has words"},
      {"explain --d-model", "a multiple of the heads"},
      {"generate --length-penalty", "needs several beams, which effects.txt has not"},
      {"task --length", "the task has lengths of its own"},
      {"train --length", "the task has lengths of its own"},
      {"train --image-side", "of pictures alone"},
      {"train --patch-side", "of pictures alone"},
      {"view --port", "not beside --export, which ends"},
  };
  return kAll;
}

TEST_P(ValueTest, AtTheEndsOfItsBounds) {
  for (const DescribedOption& option : options()) {
    if (!is_number(option)) continue;
    const Ends ends = ends_of(option);
    ASSERT_THAT(ends.outside, SizeIs(2)) << option.name << ": " << option.bounds;
    for (const std::string& value : ends.outside) {
      const auto words = with_value(option, value);
      ASSERT_TRUE(words) << option.name;
      const Reply reply = reply_of(option.command, *words);
      EXPECT_EQ(reply.code, 2) << testing::PrintToString(*words);
      EXPECT_THAT(reply.err, StartsWith(named(option)));
      EXPECT_THAT(reply.err, HasSubstr(option.bounds));
    }
    const bool has_others = bound_by_others().contains(option.command + " " + option.name);
    for (const std::string& value : ends.inside) {
      const Reply reply = reply_of(option.command, with_value(option, value).value());
      if (has_others) continue;
      EXPECT_THAT(reply.err, Not(StartsWith(named(option)))) << value;
    }
  }
}

// A text that is not of the form of its values; nullopt if any text may be one.
std::optional<std::string> wrong_text(const DescribedOption& option) {
  if (!option.bounds.empty()) return "x7";
  const std::string form = option.type.substr(std::min(option.type.find('`'), option.type.size() - 1) + 1);
  if (form == "TEXT" || form == "[TEXT]" || form == "WORD" || form == "NAME" || form == "HOST") return std::nullopt;
  const bool is_file = form.find("FILE") != std::string::npos || form == "DIR" || form == "PATH" || form == "MODEL";
  return is_file ? "/dev/null/x7" : form == "EXPR" ? "x7(" : "x7";
}

TEST_P(ValueTest, OfTextsThatHaveNoMeaning) {
  for (const DescribedOption& option : options()) {
    if (option.is_flag() || is_number(option)) continue;
    const auto wrong = wrong_text(option);
    const auto words = wrong ? with_value(option, *wrong) : std::nullopt;
    if (!words) continue;
    const Reply reply = reply_of(option.command, *words);
    EXPECT_THAT(reply.code, AnyOf(1, 2)) << testing::PrintToString(*words);
    EXPECT_THAT(reply.err, AnyOf(HasSubstr(option.name), HasSubstr(*wrong))) << testing::PrintToString(*words);
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, ValueTest, testing::ValuesIn(tests::commands()), tests::name_of_command);

}  // namespace
}  // namespace qkv::options_test
