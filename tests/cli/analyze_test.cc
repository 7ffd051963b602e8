// qkv analyze.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::analyze_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using tests::Outcome;
using tests::run_qkv;
using Json = nlohmann::json;

TEST(AnalyzeCommand, SaysWhatEachHeadDoes) {
  const Outcome outcome = run_qkv({"analyze", "previous", "--count", "4"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("Heads of previous over 4 held-out examples of previous ("));
  EXPECT_THAT(outcome.out, HasSubstr("\n0.0   previous      1.00"));
}

TEST(AnalyzeCommand, WritesTableAndPictures) {
  const tests::TemporaryDirectory directory;
  const std::string csv = directory / "heads.csv";
  const std::string folder = directory / "pictures/of heads";
  const Outcome outcome = run_qkv({"analyze", "reverse", "--count", "4", "--site", "cross", "--importance", "0",
                                   "--csv", csv, "--svg", folder, "--png", folder, "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  ASSERT_EQ(json["sites"].size(), 1U);
  EXPECT_EQ(json["heads"][0]["site"], "cross");
  EXPECT_EQ(json["sites"][0]["site"], "cross");
  EXPECT_EQ(json["no_importance"], "not asked for");
  EXPECT_TRUE(std::filesystem::exists(csv));
  for (const std::string what : {"grid", "classes", "distances", "entropy"}) {
    EXPECT_TRUE(std::filesystem::exists(folder + "/cross-" + what + ".svg")) << what;
    EXPECT_TRUE(std::filesystem::exists(folder + "/cross-" + what + ".png")) << what;
  }
}

TEST(AnalyzeCommand, DrawsTheRolloutOfTheFirstText) {
  const tests::TemporaryDirectory directory;
  const std::string folder = directory / "pictures";
  EXPECT_EQ(run_qkv({"analyze", "brackets", "--count", "2", "--importance", "0", "--svg", folder}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder + "/tokens-rollout.svg"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/tokens-flow.svg"));
  const Outcome trees = run_qkv({"analyze", "english", "--syntax", "english", "--count", "20", "--svg", folder});
  EXPECT_THAT(trees.out, HasSubstr("written   " + folder + "/relations.svg"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/relations.svg"));
}

TEST(AnalyzeCommand, ReadsTheLinesOfAFile) {
  const tests::TemporaryDirectory directory;
  const std::string file = directory / "texts.txt";
  write_file(file, "abcabc\n\nqwertyqwerty\n");
  const Outcome outcome = run_qkv({"analyze", "induction", "--file", file, "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["tokens"], 18);
}

TEST(AnalyzeCommand, HoldsHeadsAgainstTrees) {
  const tests::TemporaryDirectory directory;
  const std::string csv = directory / "trees.csv";
  const Outcome outcome = run_qkv({"analyze", "english", "--syntax", "english", "--count", "20", "--csv", csv});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("Grammar in the heads of english: 20 sentences"));
  EXPECT_TRUE(std::filesystem::exists(csv));
  const std::string file = directory / "broken.conllu";
  write_file(file, "1\ta\n");
  EXPECT_THAT(run_qkv({"analyze", "english", "--syntax", file}).err,
              HasSubstr("broken.conllu, line 1: expected 10 columns of CoNLL-U"));
}

TEST(AnalyzeCommand, NamesTheHeadsOfTheTasksPatterns) {
  const Outcome outcome = run_qkv({"analyze", "reverse", "--count", "16", "--importance", "0"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\nanti-diagonal       cross  0.0    0.8"));
  const Outcome other =
      run_qkv({"analyze", "reverse", "--count", "4", "--importance", "0", "--site", "tokens", "--json"});
  EXPECT_TRUE(Json::parse(other.out)["task_patterns"].empty());
}

TEST(AnalyzeCommand, WritesTreesOfFewPairsWithoutPictures) {
  const tests::TemporaryDirectory directory;
  const std::string csv = directory / "trees.csv";
  const Outcome outcome = run_qkv(
      {"analyze", "english", "--syntax", "english", "--count", "1", "--csv", csv, "--png", directory / "pictures"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("No relation has 10 pairs or more; CSV and JSON have all"));
  EXPECT_TRUE(std::filesystem::exists(csv));
  EXPECT_FALSE(std::filesystem::exists(directory / "pictures/relations.png"));
}

TEST(AnalyzeCommand, RefusesWhatHasNoMeaning) {
  const Outcome site = run_qkv({"analyze", "english", "--site", "cross"});
  EXPECT_EQ(site.code, 2);
  EXPECT_THAT(site.err, HasSubstr("--site: expected one that the model has: tokens, got \""));
  EXPECT_EQ(run_qkv({"analyze", "english", "--count", "0"}).code, 2);
  EXPECT_EQ(run_qkv({"analyze", "english", "--syntax", "english", "--site", "tokens"}).code, 2);
  EXPECT_EQ(run_qkv({"analyze", "nothing"}).code, 1);
  EXPECT_EQ(run_qkv({"analyze", "english", "--count", "3", "--file", "x"}).code, 2);
  const Outcome seed = run_qkv({"analyze", "copy", "--count", "3", "--seed", "7"});
  EXPECT_EQ(seed.code, 2);
  EXPECT_THAT(seed.err, HasSubstr("--seed: expected none beside texts of which this model has no tokens drawn, got 7"));
}

}  // namespace
}  // namespace qkv::analyze_test
