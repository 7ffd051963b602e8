// qkv bench positions: models so small that little is asked of how well they learn.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::bench_positions_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using tests::Outcome;
using tests::run_qkv;
using tests::TemporaryDirectory;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

Words small(const Words& more) {
  Words words = {"bench",   "positions", "--train-length", "6", "--layers",   "1", "--d-model", "8",
                 "--heads", "2",         "--batch",        "4", "--examples", "8", "--threads", "1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(BenchPositions, TrainsEveryKindAndTestsEveryLength) {
  const Outcome outcome = run_qkv(small({"--json", "--steps", "3"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["task"], "previous");
  EXPECT_EQ(json["trained_places"], 6);
  EXPECT_THAT(json["test_lengths"], ElementsAre(6, 12, 24, 48));
  std::vector<std::string> kinds;
  for (const Json& result : json["results"]) {
    kinds.push_back(result["positions"]);
    EXPECT_EQ(result["accuracy"].size(), 4U);
    EXPECT_GT(result["loss"], 0.0);
  }
  EXPECT_THAT(kinds, ElementsAre("none", "sinusoidal", "learned", "rotary", "alibi", "t5"));
  // The learned table goes as far as the longest test: 8 numbers for each of 48 places.
  EXPECT_EQ(json["results"][2]["parameters"], json["results"][0]["parameters"].get<int>() + 48 * 8);
}

TEST(BenchPositions, DrawsItsChart) {
  const TemporaryDirectory directory;
  const Outcome outcome =
      run_qkv(small({"--steps", "2", "--kinds", "none,t5", "--plot", "--svg", directory / "chart.svg", "--png",
                     directory / "chart.png", "--pdf", directory / "chart.pdf"}));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("previous: trained at 6 letters, tested at others"), HasSubstr("trained")));
  const auto text_of = [&](const std::string& name) {
    const std::vector<std::byte> bytes = read_file(directory / name);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  EXPECT_THAT(text_of("chart.svg"), HasSubstr("</svg>"));
  EXPECT_THAT(text_of("chart.png"), StartsWith("\x89PNG"));
  EXPECT_THAT(text_of("chart.pdf"), StartsWith("%PDF"));
}

// It would train for minutes otherwise, and have nothing to show for it.
TEST(BenchPositions, TrainsNothingForAPlaceThatCannotBeWritten) {
  const Outcome outcome = run_qkv({"bench", "positions", "--steps", "1000000", "--png", "/nonexistent/x.png"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("/nonexistent"));
}

TEST(BenchPositions, SaysWhichTrainingDiverged) {
  const Outcome outcome = run_qkv(small({"--steps", "40", "--kinds", "none", "--learning-rate", "1e30"}));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, StartsWith("qkv bench positions: no training came to its end: none: "));
}

TEST(BenchPositions, StopsWhenItIsInterrupted) {
  const Outcome outcome = tests::run_qkv_interrupted(small({"--steps", "1000000"}));
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_EQ(outcome.err, "qkv bench positions: stopped; nothing was measured\n");
}

TEST(BenchPositions, RefusesWhatHasNoMeaning) {
  const auto refusal = [](const Words& more) {
    Words words = {"bench", "positions"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.out, IsEmpty());
    return outcome.err;
  };
  EXPECT_THAT(refusal({"--task", "revers"}),
              AllOf(HasSubstr("--task: expected one of copy"), HasSubstr("did you mean reverse?")));
  EXPECT_THAT(refusal({"--task", "shapes"}), HasSubstr("--task: expected a task whose examples have a length"));
  EXPECT_THAT(refusal({"--task", "translation"}),
              HasSubstr("--task: expected a task whose examples have a length, got translation"));
  EXPECT_THAT(refusal({"--kinds", "rotary,rope"}), HasSubstr("--kinds: expected none, sinusoidal"));
  EXPECT_THAT(refusal({"--train-length", "2"}), HasSubstr("--train-length: expected from 4 to 4096 letters"));
  EXPECT_THAT(refusal({"--task", "sort", "--test-lengths", "12,27"}),
              HasSubstr("--test-lengths: expected from 2 to 26 letters for sort, got 27"));
  EXPECT_THAT(refusal({"--learning-rate", "0"}),
              HasSubstr("--learning-rate: expected a number above 0, up to 1e38, got 0"));
  EXPECT_THAT(refusal({"--learning-rate", "inf"}), HasSubstr("--learning-rate: expected a finite number, got inf"));
  EXPECT_THAT(refusal({"--heads", "3"}), HasSubstr("--d-model: expected a multiple of 6, twice the heads, got 64"));
  EXPECT_THAT(refusal({"--json", "--plot"}),
              HasSubstr("--plot: expected it without --json (standard output holds one of them), got both"));
  EXPECT_THAT(refusal({"--steps", "0"}), HasSubstr("--steps: expected a whole number from 1 to"));
}

}  // namespace
}  // namespace qkv::bench_positions_test
