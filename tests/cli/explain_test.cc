// qkv explain, as it is called.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/command.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/npz.h"
#include "qkv/random.h"

namespace qkv::tests {
namespace {

using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

Outcome explain(Words words) {
  words.insert(words.begin(), "explain");
  return run_qkv(words);
}

TEST(ExplainCommand, ExplainsAText) {
  const Outcome outcome = explain({"The cat sat down", "--causal"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* part : {"Tokens", "S = Q · Kᵀ", "Softmax", "Output projection", "Why?"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
  EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));
}

TEST(ExplainCommand, ColoursWhenAskedTo) {
  EXPECT_THAT(explain({"cat", "--color", "true"}).out, HasSubstr("\x1b[38;2;"));
  EXPECT_THAT(explain({"cat", "--color", "256"}).out, HasSubstr("\x1b[38;5;"));
}

TEST(ExplainCommand, EveryOptionIsUnderstood) {
  const std::vector<Words> calls = {{"--mask", "causal & window(2)"},
                                    {"--bias", "alibi"},
                                    {"--bias", "t5"},
                                    {"--position", "rotary"},
                                    {"--position", "learned"},
                                    {"--position", "none"},
                                    {"--heads", "4"},
                                    {"--d-model", "12", "--heads", "3", "--d-k", "2", "--d-v", "5"},
                                    {"--seed", "7"},
                                    {"--block"},
                                    {"--block", "post-norm", "--causal"},
                                    {"--context", "Le chat"},
                                    {"--query", "cat"},
                                    {"--query", "2", "--heads", "1"},
                                    {"--step", "3-5,softmax"},
                                    {"--why"},
                                    {"--why", "variance,order"},
                                    {"--softcap", "5"},
                                    {"--scale", "1", "--width", "120"}};
  for (Words words : calls) {
    const std::string first = testing::PrintToString(words);
    words.insert(words.begin(), "The cat sat down");
    const Outcome outcome = explain(words);
    EXPECT_EQ(outcome.code, 0) << first << outcome.err;
  }
}

TEST(ExplainCommand, TheTextMayFollowAnOptionWithoutAValue) {
  EXPECT_THAT(explain({"--block", "The cat"}).out, HasSubstr("LayerNorm before attention"));
  EXPECT_THAT(explain({"--why", "The cat"}).out, HasSubstr("The variance of q · k"));
}

struct Misuse {
  Words words;
  std::string message;
};

TEST(ExplainCommand, MisuseExitsWithTwo) {
  const std::vector<Misuse> calls = {{{}, "TEXT: expected some words"},
                                     {{""}, "at least one word"},
                                     {{"c\377t"}, "position 1"},
                                     {{"cat", "--heads", "3"}, "a divisor of d_model"},
                                     {{"cat", "--mask", "wibble"}, "wibble"},
                                     {{"cat", "--query", "dog"}, "0 cat"},
                                     {{"cat", "--step", "99"}, "softmax"},
                                     {{"cat", "--why", "wibble"}, "variance"},
                                     {{"cat", "--position", "wibble"}, "sinusoidal, learned"},
                                     {{"cat", "--block", "sideways"}, "pre-norm or post-norm"},
                                     {{"cat", "--bias", "t5", "--position", "rotary"}, "no other --position"},
                                     {{"cat", "--scale", "nan"}, "scale"},
                                     {{"cat", "dog"}, "dog"},
                                     {{"--worked", "wibble"}, "--worked: expected one of scratch"},
                                     {{"--worked", "list", "--heads", "3"}, "--heads: expected no --worked"},
                                     {{"--worked", "gpt3-memory", "--causal"}, "--causal: expected no --worked"},
                                     {{"--npz", "x.npz", "--position", "none"}, "--position: expected no --npz"},
                                     {{"--npz", "x.npz", "--seed", "1"}, "--seed: expected no --npz"},
                                     {{"--npz", "x.npz", "--bias", "t5"}, "--bias t5: expected a text"},
                                     {{"cat", "--seed", "99999999999999999999"}, "from 0 to 18446744073709551615"},
                                     {{"cat", "--seed", "-1"}, "got \"-1\""},
                                     {{"--why", "variance"}, "TEXT: expected some words"},
                                     {{"--why=order,packing"}, "TEXT: expected some words"},
                                     {{"--block", "pre-norm"}, "TEXT: expected some words"},
                                     {{"cat", "--step", ""}, "--step: expected"},
                                     {{"cat", "--d-k", "3", "--position", "rotary"}, "even"}};
  for (const Misuse& call : calls) {
    const Outcome outcome = explain(call.words);
    EXPECT_EQ(outcome.code, 2) << testing::PrintToString(call.words);
    EXPECT_THAT(outcome.err, HasSubstr(call.message));
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(ExplainCommand, CausalTwiceIsCausal) {
  EXPECT_THAT(explain({"The cat", "--causal", "--mask", "causal"}).out, Not(HasSubstr("causal & causal")));
}

TEST(ExplainCommand, NoLineOfSettingsEndsInASeparator) {
  for (const char* width : {"40", "60", "80"}) {
    EXPECT_THAT(explain({"The cat", "--mask", "causal & window(2)", "--width", width, "--step", "tokens"}).out,
                Not(HasSubstr("·\n")));
  }
}

TEST(ExplainCommand, HelpSaysWhatKindOfValueAnOptionTakes) {
  const std::string help = explain({"--help"}).out;
  for (const char* part : {"--html FILE", "--svg DIR", "--mask EXPR", "--query WORD", "[=KIND]"}) {
    EXPECT_THAT(help, HasSubstr(part));
  }
}

TEST(ExplainCommand, FailureExitsWithOneAndLeavesNothing) {
  const TemporaryDirectory directory;
  EXPECT_EQ(explain({"--npz", directory / "missing.npz"}).code, 1);
  write_file(directory / "file", std::string_view("x"));
  EXPECT_EQ(explain({"cat", "--html", directory / "file/page.html"}).code, 1);
  EXPECT_THAT(directory.names(), testing::ElementsAre("file"));
}

TEST(ExplainCommand, WritesThePageAndThePictures) {
  const TemporaryDirectory directory;
  const Outcome outcome = explain(
      {"The cat sat", "--html", directory / "sub/page.html", "--svg", directory / "svg", "--png", directory / "png"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("page.html"));
  std::stringstream page;
  page << std::ifstream(directory / "sub/page.html").rdbuf();
  EXPECT_THAT(page.str(), testing::StartsWith("<!DOCTYPE html>"));
  EXPECT_TRUE(std::filesystem::exists(directory / "svg/12-softmax-head0.svg"));
  EXPECT_TRUE(std::filesystem::exists(directory / "png/12-softmax-head1.png"));
  EXPECT_TRUE(std::filesystem::exists(directory / "svg/why-variance.svg"));
}

TEST(ExplainCommand, PrintsJson) {
  const nlohmann::json json = nlohmann::json::parse(explain({"The cat sat", "--json"}).out);
  EXPECT_EQ(json["tokens"], (Words{"The", "cat", "sat"}));
  EXPECT_EQ(json["steps"].size(), 16U);
  EXPECT_EQ(json["whys"].size(), 10U);
}

TEST(ExplainCommand, StartsAtTheReadersOwnTensors) {
  const TemporaryDirectory directory;
  Generator generator(1);
  const Tensor q = generator.randn({2, 3, 4});
  const std::vector<NamedView> members = {{"Q", q.view()}, {"K", q.view()}, {"V", q.view()}};
  write_file(directory / "qkv.npz", encode_npz(members));
  const Outcome outcome = explain({"--npz", directory / "qkv.npz", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["steps"][0]["id"], "tensors");
  write_file(directory / "two.npz", encode_npz(std::span(members).first(2)));
  const Outcome incomplete = explain({"--npz", directory / "two.npz"});
  EXPECT_EQ(incomplete.code, 1);
  EXPECT_THAT(incomplete.err, HasSubstr("expected members Q, K and V (or q, k and v), found Q, K"));
}

TEST(ExplainCommand, ReplaysEveryWorkedExample) {
  std::istringstream list(explain({"--worked", "list"}).out);
  int count = 0;
  for (std::string line; std::getline(list, line); ++count) {
    const std::string name = line.substr(0, line.find(' '));
    const Outcome outcome = explain({"--worked", name});
    EXPECT_EQ(outcome.code, 0) << name << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("computed")) << name;
  }
  EXPECT_GT(count, 5);
}

// A model of 16 numbers a token that has seen three batches: enough to be looked at.
std::string trained_for_moments(const TemporaryDirectory& directory, const std::string& task) {
  const std::string out = directory / task;
  const Outcome outcome = run_qkv({"train", task, "--layers", "1", "--d-model", "16", "--heads", "2", "--steps", "3",
                                   "--batch", "2", "--examples", "2", "--out", out});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return out + "/model.safetensors";
}

TEST(ExplainModel, ShowsWhatItSaysItsHeadsAndTheirSteps) {
  const TemporaryDirectory directory;
  const std::string model = trained_for_moments(directory, "induction");
  const Outcome outcome = run_qkv({"explain", "--model", model, "--example", "0", "--query", "3"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("What the model says"), HasSubstr("Layer 0, head 1"),
                                 HasSubstr("induction (tokens)"), HasSubstr("Layer 0, tokens: Raw scores")));
  EXPECT_EQ(run_qkv({"explain", "--model", model, "abcxyzab", "--step", "says"}).code, 0);
}

TEST(ExplainModel, AnswersInTheOtherLanguage) {
  const TemporaryDirectory directory;
  const std::string model = trained_for_moments(directory, "translation");
  const Outcome outcome = run_qkv({"explain", "--model", model, "some umbrellas are heavy", "--site", "cross"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("What every head looks at: cross"), HasSubstr("Layer 0, cross: Raw scores"),
                                 HasSubstr("umbrellas")));
}

TEST(ExplainModel, ReadsAPicture) {
  const TemporaryDirectory directory;
  const std::string model = trained_for_moments(directory, "shapes");
  ASSERT_EQ(run_qkv({"mask", "causal", "--tq", "8", "--tk", "8", "--png", directory / "m.png"}).code, 0);
  const Outcome outcome = run_qkv({"explain", "--model", model, directory / "m.png", "--step", "heads-cross"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("[H, Tq, Tk] = [2, "));
}

TEST(ExplainModel, RefusesWhatHasNoMeaning) {
  const TemporaryDirectory directory;
  const std::string model = trained_for_moments(directory, "induction");
  const auto refused = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"explain", "--model", model});
    return run_qkv(words).err;
  };
  EXPECT_EQ(refused({"ab9"}), "qkv explain: TEXT: expected a token of the task, such as \"a\", got \"9\"\n");
  EXPECT_EQ(refused({}), "qkv explain: TEXT: expected a text, or --example N, got none\n");
  EXPECT_EQ(refused({"ab", "--layer", "1"}), "qkv explain: --layer: expected 0 to 0, got 1\n");
  EXPECT_EQ(refused({"ab", "--site", "cross"}), "qkv explain: --site: expected one of tokens, got cross\n");
  EXPECT_EQ(refused({"ab", "--causal"}),
            "qkv explain: --causal: expected no --model beside it, for a trained model brings its own, got --model\n");
  EXPECT_EQ(refused({"ab", "--example", "1"}), "qkv explain: --example: expected no text beside it, got one\n");
  EXPECT_THAT(run_qkv({"explain", "--model", "nonesuch", "ab"}).err, HasSubstr("no model \"nonesuch\" in the box"));
  EXPECT_EQ(run_qkv({"explain", "ab", "--layer", "0"}).err, "qkv explain: --layer: expected a --model, got none\n");
}

}  // namespace
}  // namespace qkv::tests
