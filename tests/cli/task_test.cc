#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/command.h"

namespace qkv::task_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using tests::Outcome;
using tests::run_qkv;

TEST(TaskCommand, ListsTheTasks) {
  const Outcome outcome = run_qkv({"task"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, AllOf(StartsWith("task "), HasSubstr("\nprevious     decoder          99 %")));
  const auto json = nlohmann::json::parse(run_qkv({"task", "--json"}).out);
  ASSERT_EQ(json["tasks"].size(), 10U);
  EXPECT_EQ(json["tasks"][0]["name"], "copy");
  EXPECT_EQ(json["tasks"][0]["length"]["usual"], 12);
  EXPECT_EQ(json["tasks"][5]["model"], "decoder");  // brackets, which an encoder can read, too
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 82U) << line;  // "…" has three bytes
}

TEST(TaskCommand, PrintsExamplesAsJson) {
  const Outcome outcome = run_qkv({"task", "addition", "--length", "1", "--examples", "3", "--from", "5", "--json"});
  const auto json = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(json["examples"].size(), 3U);
  EXPECT_EQ(json["examples"][0]["n"], 5);
}

TEST(TaskCommand, ShowsTheLengthThatWasChosen) {
  EXPECT_THAT(run_qkv({"task", "copy", "--length", "99"}).out,
              HasSubstr("\nlength    99 letters; --length takes 2 to 1024, 12 is usual\ntokens    at most 100,"));
}

TEST(TaskCommand, DrawsOtherExamplesFromAnotherSeedOrSplit) {
  const std::string usual = run_qkv({"task", "copy"}).out;
  EXPECT_EQ(run_qkv({"task", "copy", "--seed", "0", "--split", "test"}).out, usual);
  EXPECT_NE(run_qkv({"task", "copy", "--seed", "1"}).out, usual);
  EXPECT_NE(run_qkv({"task", "copy", "--split", "train"}).out, usual);
}

TEST(TaskCommand, RefusesWhatHasNoMeaning) {
  const auto refused = [](const std::vector<std::string>& arguments, const char* message) {
    const Outcome outcome = run_qkv(arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, AllOf(StartsWith("qkv task: "), HasSubstr(message)));
  };
  refused({"task", "inductoin"}, "TASK: expected one of copy, ");
  refused({"task", "inductoin"}, "got \"inductoin\"; did you mean induction?");
  refused({"task", "sort", "--length", "30"}, "--length: expected from 2 to 26 letters for sort, got 30");
  refused({"task", "english", "--length", "30"}, "--length: expected none for english, got 30");
  refused({"task", "sort", "--examples", "-1"}, "--examples");
  refused({"task", "sort", "--split", "exam"}, "--split");
}

// The document shows commands, each with what it prints.
TEST(TaskCommand, PrintsWhatTheDocumentShows) {
  std::ifstream stream(QKV_SOURCE_DIR "/docs/tasks.md", std::ios::binary);
  const std::string document{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const std::string before = "```sh\nqkv task";
  const std::string between = "\n```\n\n```text\n";
  int commands = 0;
  for (std::size_t at = document.find(before); at != std::string::npos; at = document.find(before, at + 1)) {
    const std::size_t line = at + 10;  // behind "```sh\nqkv "
    const std::size_t end = document.find('\n', line);
    ASSERT_EQ(document.substr(end, between.size()), between) << document.substr(line, end - line);
    const std::size_t begin = end + between.size();
    std::istringstream words(document.substr(line, end - line));
    const std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
    EXPECT_EQ(run_qkv(arguments).out, document.substr(begin, document.find("```", begin) - begin));
    ++commands;
  }
  EXPECT_EQ(commands, 11) << "the list and each task";
}

}  // namespace
}  // namespace qkv::task_test
