// What every command shares: help, versions, unknown words, exit codes, standard output that goes away.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "cli/command.h"
#include "cli/described_options.h"
#include "qkv/attention.h"
#include "qkv/files.h"
#include "qkv/info.h"
#include "qkv/picture/terminal.h"
#include "qkv/targets.h"

namespace qkv::frame_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using tests::Environment;
using tests::Outcome;
using tests::run_qkv;

TEST(Frame, PrintsItsVersion) {
  const Outcome outcome = run_qkv({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "qkv " + std::string(build_info().full) + "\n");
}

TEST(Frame, ListsItsCommandsHoweverItIsAsked) {
  const Outcome bare = run_qkv({});
  EXPECT_EQ(bare.code, 0);
  EXPECT_THAT(bare.out, AllOf(HasSubstr("attend"), HasSubstr("check"), HasSubstr("info"), HasSubstr("Exit codes")));
  EXPECT_EQ(run_qkv({"--help"}).out, bare.out);
  EXPECT_EQ(run_qkv({"help"}).out, bare.out);
}

TEST(Frame, TellsItsExitCodes) { EXPECT_THAT(run_qkv({}).out, HasSubstr("130 stopped by Ctrl-C")); }

const std::vector<std::string> kCommands = {
    "analyze",  "attend", "bench", "change", "check", "convert", "cost",  "embed", "explain", "fetch", "fill",
    "generate", "help",   "info",  "lens",   "mask",  "match",   "probe", "task",  "tokens",  "train", "view"};

class EachCommand : public testing::TestWithParam<std::string> {};

TEST_P(EachCommand, ExplainsItselfWithAnExample) {
  const Outcome outcome = run_qkv({GetParam(), "--help"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("Usage: qkv " + GetParam()), ContainsRegex("Examples?:\n  .*qkv ")));
  EXPECT_EQ(run_qkv({"help", GetParam()}).out, outcome.out);
}

// The row of an option as one line.
std::string help_row(const std::string& command, const std::string& option) {
  const std::string help = run_qkv({command, "--help"}).out;
  const std::size_t begin = help.find("\n  " + option + " ");
  std::istringstream words(help.substr(begin, help.find("\n  -", begin + 1) - begin));
  std::string row;
  for (std::string word; words >> word;) row += (row.empty() ? "" : " ") + word;
  return row;
}

TEST(Frame, CountsInHelpWhatAnOptionExcludesWhereThatIsMany) {
  EXPECT_EQ(
      help_row("explain", "--worked"),
      "--worked NAME Replay a worked example; NAME `list` prints their names (not beside 22 others, each of which "
      "says so: an example has its own; not beside --model: an example needs no model; not beside --chat: a "
      "conversation "
      "is text; not beside --all: an example is shown whole; --worked list not beside 7 others, each of which says so: "
      "it names the examples and no more)");
  EXPECT_THAT(help_row("explain", "--example"),
              HasSubstr("(needs --model; not beside TEXT, --picture or --sound: a model reads one of them; "
                        "not beside --chat: a conversation is text)"));
  EXPECT_THAT(help_row("explain", "--seed"), HasSubstr("(not beside --worked or --model)"));
}

// A reason that many options share stands in the row of the one that they exclude, once in the help.
TEST(Frame, SaysAReasonOnceInHelp) {
  for (const auto& [command, why] :
       std::vector<std::pair<std::string, std::string>>{{"train", "a run goes on with the settings it began with"},
                                                        {"train", "no model is trained"},
                                                        {"explain", "an example has its own"},
                                                        {"probe", "a model has its own"}}) {
    std::istringstream words(run_qkv({command, "--help"}).out);
    std::string help;
    for (std::string word; words >> word;) help += " " + word;
    const std::size_t first = help.find(why);
    ASSERT_NE(first, std::string::npos) << command << ": " << why;
    EXPECT_EQ(help.find(why, first + 1), std::string::npos) << command << ": " << why;
  }
}

// "d_model" is --d-model for who reads help. The letters of a formula and the words of `results` are no fields.
TEST(Frame, NamesOptionsInHelpNeverFields) {
  const std::set<std::string> others = {"d_k", "d_v", "present_k", "present_v"};
  int named = 0;
  for (const tests::DescribedOption& option : tests::described_options()) {
    if (option.is_place() || option.name.find('-', 2) == std::string::npos) continue;
    std::string field = option.name.substr(2);
    std::ranges::replace(field, '-', '_');
    if (others.contains(field)) continue;
    std::vector<std::string> words = option.command_words();
    words.emplace_back("--help");
    const std::string help = run_qkv(words).out;
    EXPECT_THAT(help, Not(ContainsRegex("[^A-Za-z_./]" + field + "[^A-Za-z_.]"))) << option.command;
    ++named;
  }
  EXPECT_GT(named, 60);
}

TEST(Frame, DescribesEveryOptionAsTheDocumentDoes) {
  const auto bytes = read_file(QKV_SOURCE_DIR "/docs/api.md");
  const std::string document(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_THAT(document, HasSubstr("begin -->\n" + run_qkv({"help", "--describe", "--own"}).out + "<!--"))
      << "docs/api.md takes what `qkv help --describe --own` prints";
}

// No line is wider than a terminal, no two empty ones follow one another, and what an option does begins in one column.
TEST_P(EachCommand, LaysItsHelpOut) {
  std::istringstream lines(run_qkv({GetParam(), "--help"}).out);
  std::string before = "-";
  for (std::string line; std::getline(lines, line); before = line) {
    EXPECT_LE(display_width(line), 80) << line;
    EXPECT_FALSE(line.empty() && before.empty());
    const bool goes_on = before.starts_with("  -") || before.starts_with(std::string(28, ' '));
    if (goes_on && !line.empty()) {
      EXPECT_TRUE(line.starts_with("  ")) << line;
    }
    if (!line.starts_with("  -")) continue;
    const std::size_t gap = line.find("  ", 2);
    if (gap == std::string::npos) continue;  // too long for its column: the rest is below
    EXPECT_EQ(display_width(line.substr(0, line.find_first_not_of(' ', gap))), 28) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EachCommand, testing::ValuesIn(kCommands), [](const auto& item) { return item.param; });

// A command that is added has to be added to the table.
TEST(Frame, HasNoOtherCommands) {
  std::set<std::string> listed;
  std::istringstream lines(run_qkv({}).out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ") && line.size() > 13 && line[2] != ' ' && line[2] != '-') {
      listed.insert(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  EXPECT_EQ(listed, std::set<std::string>(kCommands.begin(), kCommands.end()));
}

// What is written for people fits a narrow terminal.
TEST(Frame, FitsFortyColumns) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"help", "attend"},
                                                {"help", "train"},
                                                {"help", "bench", "variants"},
                                                {"cost", "gpt2"},
                                                {"mask"},
                                                {"mask", "causal & window(4)", "--tq", "8", "--tk", "8"},
                                                {"task"},
                                                {"info"},
                                                {"analyze", "induction", "--count", "2"}}) {
    const Outcome outcome = run_qkv(words, {{"COLUMNS", "40"}});
    EXPECT_EQ(outcome.code, 0);
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), 40) << (words.empty() ? "qkv" : words.front()) << ": " << line;
    }
  }
}

TEST(Frame, ShowsNoCommandsToTheTerminalInItsErrors) {
  const Outcome outcome = run_qkv({"mask", "windw\x1b]0;title\x07(3)\xC2\x9B"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(run_qkv({"check", "\x1b[2J.npy", "b.npy"}).err.find('\x1b'), std::string::npos);
  EXPECT_THAT(run_qkv({"check", "\x1b[2J.npy", "b.npy"}).err, HasSubstr("\\x1b[2J.npy"));
}

TEST(Frame, AsksForThreadsThatHaveAMeaning) {
  const Outcome outcome = run_qkv({"cost", "gpt2"}, {{"QKV_THREADS", "abc"}});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "qkv cost: QKV_THREADS: expected a whole number from 1 to 65536, got \"abc\"\n");
  EXPECT_EQ(run_qkv({"cost", "--help"}, {{"QKV_THREADS", "abc"}}).code, 0);
}

TEST(Frame, LaysTheHelpOfANestedCommandOut) {
  for (const std::string nested : {"variants", "positions", "bottleneck"}) {
    const std::string text = run_qkv({"bench", nested, "--help"}).out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
    EXPECT_THAT(text, HasSubstr("Usage: qkv bench " + nested + " [OPTIONS]\n"));
    EXPECT_EQ(run_qkv({"help", "bench", nested}).out, text);
  }
  EXPECT_THAT(run_qkv({"bench", "variants", "--help"}).out, HasSubstr("[256:4096]"));
  EXPECT_EQ(run_qkv({"help", "bench", "varients"}).err,
            "qkv help: there is no command `bench varients`; did you mean `bench variants`?\n");
  EXPECT_EQ(run_qkv({"help", "mask", "extra"}).err,
            "qkv help: there is no command `mask extra`; `qkv help mask` lists them\n");
}

TEST(Frame, SaysInOneWayWhatIsNoNumber) {
  const auto refusal = [](const std::vector<std::string>& words) {
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 2);
    return outcome.err;
  };
  EXPECT_EQ(refusal({"attend", "--scale", "abc"}),
            "qkv attend: --scale: expected a number from -1e38 to 1e38, got \"abc\"\n");
  EXPECT_EQ(refusal({"explain", "a b", "--causal=abc"}), "qkv explain: --causal: expected no value, got \"abc\"\n");
  EXPECT_EQ(refusal({"cost", "gpt2", "--gated=abc"}), "qkv cost: --gated: expected no value, got \"abc\"\n");
  EXPECT_EQ(refusal({"explain", "a b", "--scale", "abc"}),
            "qkv explain: --scale: expected a number from -1000000 to 1000000, got \"abc\"\n");
  EXPECT_EQ(refusal({"train", "copy", "--learning-rate", "abc"}),
            "qkv train: --learning-rate: expected a number above 0, up to 1e38, got \"abc\"\n");
  EXPECT_EQ(refusal({"train", "copy", "--steps", "abc"}),
            "qkv train: --steps: expected a whole number from 1 to 1099511627776, got \"abc\"\n");
  EXPECT_EQ(refusal({"bench", "positions", "--learning-rate", "abc"}),
            "qkv bench positions: --learning-rate: expected a number above 0, up to 1e38, got \"abc\"\n");
  EXPECT_EQ(refusal({"task", "copy", "--length", "abc"}),
            "qkv task: --length: expected a whole number from 1 to 1048576, got \"abc\"\n");
}

TEST(Frame, TakesNothingBehindAnEqualsSignForNothing) {
  const auto refusal = [](const std::vector<std::string>& words) {
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 2);
    return outcome.err;
  };
  const auto attending = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"attend", "--q", "[[1]]", "--k", "[[1]]", "--v", "[[1]]"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  EXPECT_EQ(refusal(attending({"--mask=", "-o", "x.npy"})), "qkv attend: --mask: expected a value, got \"\"\n");
  EXPECT_EQ(refusal(attending({"--scale=", "-o", "x.npy"})),
            "qkv attend: --scale: expected a number from -1e38 to 1e38, got \"\"\n");
  EXPECT_EQ(refusal({"explain", "a b", "--scale=", "--causal"}),
            "qkv explain: --scale: expected a number from -1000000 to 1000000, got \"\"\n");
  EXPECT_EQ(refusal({"explain", "a b", "--causal="}), "qkv explain: --causal: expected no value, got \"\"\n");
  EXPECT_EQ(refusal({"explain", "--block=", "a b"}),
            "qkv explain: --block: expected a value behind =, or no =, got \"\"\n");
  EXPECT_EQ(refusal({"bench", "variants", "--svg="}), "qkv bench variants: --svg: expected a value, got \"\"\n");
  // What stands behind an option is its value, and behind -- there are no options.
  EXPECT_THAT(refusal(attending({"--mask", "--scale="})), HasSubstr("--scale="));
  EXPECT_THAT(refusal({"check", "--", "--rtol="}), HasSubstr("B: expected a value, got none"));
}

TEST(Frame, SaysThatABoxOfModelsIsMissing) {
  const std::vector<Environment> none = {{"QKV_MODELS", "/nowhere/at/all"}};
  EXPECT_EQ(run_qkv({"generate", "reverse", "abxkcdef"}, none).err,
            "qkv generate: careful: QKV_MODELS: expected a folder of models, got \"/nowhere/at/all\"\n");
  EXPECT_EQ(run_qkv({"cost", "gpt2"}, none).err, "");
}

TEST(Frame, GivesSharedOptionsOneMeaning) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"attend"}, {"probe"}, {"bench", "variants"}}) {
    std::vector<std::string> help = words;
    help.emplace_back("--help");
    EXPECT_THAT(run_qkv(help).out,
                HasSubstr("  --threads N               Threads to use; 1 to 65536 [QKV_THREADS, or all\n"));
    std::vector<std::string> none = words;
    none.insert(none.end(), {"--threads", "0"});
    EXPECT_THAT(run_qkv(none).err, HasSubstr("--threads: expected a whole number from 1 to 65536, got 0"));
  }
}

TEST(Frame, SuggestsTheNearestCommand) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"atend"}, {"help", "atend"}}) {
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("there is no command `atend`; did you mean `attend`?"));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
  EXPECT_EQ(run_qkv({"bench", "varients", "--tokens", "64"}).err,
            "qkv: there is no command `bench varients`; did you mean `bench variants`?\n");
  EXPECT_EQ(run_qkv({"bench", "zebra"}).err, "qkv: there is no command `bench zebra`; `qkv help bench` lists them\n");
  EXPECT_EQ(run_qkv({"zebra"}).err, "qkv: there is no command `zebra`; `qkv help` lists them\n");
}

TEST(Frame, NamesTheCommandWhoseOptionIsUnknown) {
  const Outcome outcome = run_qkv({"info", "--wat"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, AllOf(StartsWith("qkv info: "), HasSubstr("--wat")));
}

TEST(Frame, SuggestsTheNearestOption) {
  EXPECT_EQ(run_qkv({"info", "--jsn"}).err, "qkv info: there is no option --jsn; did you mean --json?\n");
  EXPECT_EQ(run_qkv({"--versio"}).err, "qkv: there is no option --versio; did you mean --version?\n");
  EXPECT_EQ(run_qkv({"bench", "--hlp"}).err, "qkv bench: there is no option --hlp; did you mean --help?\n");
  EXPECT_EQ(run_qkv({"probe", "--text-file=a"}).err,
            "qkv probe: there is no option --text-file; did you mean --file?\n");
  EXPECT_EQ(run_qkv({"check", "a", "b", "--text", "c"}).err,
            "qkv check: there is no option --text; did you mean --file?\n");
  EXPECT_EQ(run_qkv({"attend", "--causl"}).err, "qkv attend: there is no option --causl; did you mean --causal?\n");
  EXPECT_EQ(run_qkv({"bench", "variants", "--zebra=3"}).err,
            "qkv bench variants: there is no option --zebra; `qkv bench variants --help` lists them\n");
}

TEST(Frame, AsksForTheValueOfALastOption) {
  EXPECT_EQ(run_qkv({"mask", "causal", "--tq"}).err, "qkv mask: --tq: expected a value, got none\n");
  EXPECT_EQ(run_qkv({"attend", "-o"}).err, "qkv attend: --out: expected a value, got none\n");
}

TEST(Frame, EndsQuietlyWhereNobodyReads) {
  const Outcome outcome = tests::run_qkv_into_closed_pipe({"info"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST(Frame, FailsWhereStandardOutputIsFull) {
  const Outcome outcome = tests::run_qkv_into("/dev/full", {"info"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "qkv info: cannot write to standard output: No space left on device\n");
}

TEST(Info, TellsVersionBuildProcessorAndTargets) {
  const Outcome outcome = run_qkv({"info"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("qkv " + std::string(build_info().version)), HasSubstr(cpu_model()),
                                 HasSubstr("holds     " + std::string(build_info().targets) + "\n"),
                                 ContainsRegex("\\* [a-z0-9]+ +chosen")));
}

TEST(Info, TellsHowManyThreadsAreUsed) {
  EXPECT_THAT(run_qkv({"info"}, {{"QKV_THREADS", "3"}}).out, HasSubstr("uses      3 threads"));
  EXPECT_THAT(run_qkv({"info", "--json"}, {{"QKV_THREADS", "5"}}).out, HasSubstr("\"used\": 5"));
  EXPECT_EQ(run_qkv({"info"}, {{"QKV_THREADS", ""}}).out, run_qkv({"info"}).out);
}

TEST(Info, RefusesANumberOfThreadsThatIsNone) {
  for (const char* word : {"many", "0", "-1", "2 ", "65537"}) {
    const Outcome outcome = run_qkv({"info"}, {{"QKV_THREADS", word}});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err,
              "qkv info: QKV_THREADS: expected a whole number from 1 to 65536, got \"" + std::string(word) + "\"\n");
    EXPECT_EQ(run_qkv({"--help"}, {{"QKV_THREADS", word}}).code, 0);
    EXPECT_THAT(run_qkv({"explain", "--model", "sort", "hello"}, {{"QKV_THREADS", word}}).err,
                StartsWith("qkv explain: QKV_THREADS: "));
  }
}

TEST(Info, TellsWhatServesEachType) {
  const auto served = [](DType dtype) { return std::string(attention_target(dtype)); };
  EXPECT_THAT(run_qkv({"info"}).out,
              HasSubstr("runs      f64 on reference, f32 on " + served(DType::f32) + ", f16 on " + served(DType::f16) +
                        ", bf16 on " + served(DType::bf16) + "\n"));
  EXPECT_THAT(run_qkv({"info", "--json"}).out, HasSubstr("\"f16\": \"" + served(DType::f16) + "\""));
}

TEST(Info, IsForcedOntoATargetByName) {
  for (const CpuTarget& target : cpu_targets()) {
    if (!target.compiled || !target.runs_here) continue;
    const Outcome outcome = run_qkv({"info", "--json"}, {{"QKV_FORCE_TARGET", target.name}});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, ContainsRegex("\"name\": \"" + target.name + "\",[^}]*\"chosen\": true"));
  }
}

TEST(Info, RefusesATargetThatItDoesNotKnow) {
  const Outcome outcome = run_qkv({"info"}, {{"QKV_FORCE_TARGET", "abacus"}});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, AllOf(StartsWith("qkv info: "), HasSubstr("QKV_FORCE_TARGET"),
                                 HasSubstr("got \"abacus\", which qkv does not know")));
}

TEST(Info, RefusesATargetThatIsNotThere) {
  for (const CpuTarget& target : cpu_targets()) {
    if (target.compiled && target.runs_here) continue;
    const Outcome outcome = run_qkv({"info"}, {{"QKV_FORCE_TARGET", target.name}});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err,
                HasSubstr(target.compiled ? "which needs " + target.instructions : "which this build does not hold"));
  }
}

TEST(Info, ChoosesExactlyOneTargetThatRunsHere) {
  int chosen = 0;
  for (const CpuTarget& target : cpu_targets()) {
    if (!target.chosen) continue;
    ++chosen;
    EXPECT_TRUE(target.compiled && target.runs_here) << target.name;
  }
  EXPECT_EQ(chosen, 1);
}

}  // namespace
}  // namespace qkv::frame_test
