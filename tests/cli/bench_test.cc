// qkv bench: what it runs and says. Nothing here looks at how long anything took.
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::bench_test {
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

// A small problem over these lengths.
std::vector<std::string> over(const std::string& tokens, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"bench",     "variants", "--heads",   "2", "--head-dim", "8",
                                        "--repeats", "1",        "--block",   "8", "--window",   "4",
                                        "--stride",  "4",        "--threads", "1", "--tokens",   tokens};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// The results of one length by variant.
std::map<std::string, Json> results_at(const Json& json, int tokens) {
  std::map<std::string, Json> results;
  for (const Json& result : json["results"]) {
    if (result["tokens"] == tokens) results[result["variant"]] = result;
  }
  return results;
}

TEST(Bench, RunsEveryVariantAtEveryDoubling) {
  const Json json = Json::parse(run_qkv(over("16:64", {"--json", "--causal"})).out);
  EXPECT_EQ(json["causal"], true);
  std::vector<int> tokens;
  std::vector<std::string> variants;
  for (const Json& result : json["results"]) {
    if (tokens.empty() || tokens.back() != result["tokens"]) tokens.push_back(result["tokens"]);
    if (result["tokens"] == 16) variants.push_back(result["variant"]);
  }
  EXPECT_THAT(tokens, ElementsAre(16, 32, 64));
  EXPECT_THAT(variants,
              ElementsAre("exact", "standard", "linear elu+1", "linear softmax", "window", "strided", "block-sparse"));
}

TEST(Bench, MeasuresTheMatrixThatTheStandardOneStores) {
  const auto results = results_at(Json::parse(run_qkv(over("512", {"--json"})).out), 512);
  const auto bytes = [&](const char* variant) { return results.at(variant)["bytes"].get<std::int64_t>(); };
  EXPECT_GE(bytes("standard"), 512 * 512 * 4);
  EXPECT_LT(bytes("standard"), 512 * 512 * 4 * 3 / 2);
  EXPECT_LT(bytes("linear elu+1"), 512 * 512 * 4 / 4);
  EXPECT_GT(bytes("linear elu+1"), 8 * 8 * 4);
}

TEST(Bench, SaysWhyItLeavesTheStandardOneOut) {
  const Outcome outcome = run_qkv(over("16:64", {"--memory-limit", "8KiB"}));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());  // no terminal, no progress
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("skipped: T x T takes 16 KiB, the limit is 8 KiB\n"),
                                 HasSubstr("2 heads of width 8, not causal, f32, 1 thread\n"),
                                 HasSubstr("pairs: share of T x T that counts.")));
  const auto json = Json::parse(run_qkv(over("16:64", {"--memory-limit", "8KiB", "--json"})).out);
  EXPECT_THAT(results_at(json, 64).at("standard")["skipped"].get<std::string>(), StartsWith("T x T takes "));
  EXPECT_FALSE(results_at(json, 32).at("standard").contains("skipped"));
}

TEST(Bench, DrawsItsCharts) {
  const TemporaryDirectory directory;
  const std::string into = directory / "charts";
  const Outcome outcome = run_qkv(over("16:64", {"--plot", "--svg", into, "--png", into, "--pdf", into}));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("Time: 2 heads"), HasSubstr("Memory: 2 heads"), HasSubstr("Error: 2 heads"),
                                 HasSubstr("an out of zeros")));
  const auto text_of = [&](const std::string& name) {
    const std::vector<std::byte> bytes = read_file(into + "/" + name);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  for (const char* name : {"time", "memory", "error"}) {
    EXPECT_THAT(text_of(std::string(name) + ".svg"), HasSubstr("</svg>"));
    EXPECT_THAT(text_of(std::string(name) + ".png"), StartsWith("\x89PNG"));
    EXPECT_THAT(text_of(std::string(name) + ".pdf"), StartsWith("%PDF"));
  }
}

TEST(Bench, MeasuresNothingForAPlaceThatCannotBeWritten) {
  const Outcome outcome = run_qkv(over("16:1048576", {"--png", "/dev/null/charts"}));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("cannot make the directory /dev/null/charts"));
}

TEST(Bench, ShowsWhatItHasWhenItIsInterrupted) {
  const Outcome outcome = tests::run_qkv_interrupted(over("16:1048576", {"--memory-limit", "1MiB"}));
  EXPECT_EQ(outcome.code, 130);
  if (outcome.out.empty()) {
    EXPECT_EQ(outcome.err, "qkv bench variants: stopped; nothing was measured\n");
  } else {
    EXPECT_THAT(outcome.err, HasSubstr("qkv bench variants: stopped; this is what was measured until then\n"));
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("    16  exact "), HasSubstr("tiles: share of 64 x 64 tiles computed.")));
  }
}

TEST(Bench, RefusesWhatHasNoMeaning) {
  const auto refusal = [](const std::vector<std::string>& arguments) {
    const Outcome outcome = run_qkv(arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.out, IsEmpty());
    return outcome.err;
  };
  EXPECT_THAT(refusal({"bench"}), StartsWith("qkv bench: expected one of variants, positions, bottleneck, got none"));
  EXPECT_THAT(refusal({"bench", "variants", "--tokens", "0"}),
              StartsWith("qkv bench variants: --tokens: expected T or FROM:TO, from 1 to 16777216, got \"0\""));
  EXPECT_THAT(refusal({"bench", "variants", "--tokens", "16:"}), HasSubstr("got \"16:\""));
  EXPECT_THAT(refusal({"bench", "variants", "--tokens", "32:16"}), HasSubstr("FROM no larger than TO, got \"32:16\""));
  EXPECT_THAT(refusal({"bench", "variants", "--mask", "windw(3)"}),
              AllOf(HasSubstr("--mask: column 1: expected a mask"), HasSubstr("did you mean `window`?")));
  EXPECT_THAT(refusal({"bench", "variants", "--tokens", "16", "--mask", "keys(17)"}),
              HasSubstr("--mask: keys: expected at most 16, the number of keys"));
  EXPECT_THAT(refusal({"bench", "variants", "--data", "mine"}), HasSubstr("--data"));
  EXPECT_THAT(refusal({"bench", "variants", "--threads", "0"}),
              HasSubstr("--threads: expected a whole number from 1 to 65536, got 0"));
  EXPECT_THAT(refusal({"bench", "variants", "--seed", "-1"}), HasSubstr("--seed: expected a whole number from 0 to"));
  EXPECT_THAT(refusal({"bench", "variants", "--json", "--plot"}),
              HasSubstr("--plot: expected it without --json (standard output holds one of them), got both"));
  EXPECT_THAT(refusal({"bench", "variants", "--svg", ""}), HasSubstr("--svg: expected a value, got \"\""));
}

}  // namespace
}  // namespace qkv::bench_test
