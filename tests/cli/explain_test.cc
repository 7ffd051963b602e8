// qkv explain, as it is called.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/command.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/npz.h"
#include "qkv/random.h"

namespace qkv::tests::explain_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
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

// COLORFGBG says "15;0", white on black, or "0;15".
TEST(ExplainCommand, TakesTheColoursThatSuitTheTerminalsGround) {
  const auto on = [](const std::string& ground) {
    return run_qkv({"explain", "cat", "--step", "softmax", "--color", "true"}, {{"COLORFGBG", ground}}).out;
  };
  constexpr const char* kBrightest = "48;2;241;250;192m";
  EXPECT_THAT(on("15;0"), HasSubstr(kBrightest));
  EXPECT_THAT(on(""), HasSubstr(kBrightest));
  EXPECT_THAT(on("0;15"), Not(HasSubstr(kBrightest)));
}

TEST(ExplainCommand, EveryOptionChangesWhatIsPrinted) {
  const std::vector<Words> calls = {{"--mask", "causal & window(2)"},
                                    {"--bias", "alibi"},
                                    {"--bias", "t5"},
                                    {"--positions", "rotary"},
                                    {"--positions", "learned"},
                                    {"--positions", "none"},
                                    {"--heads", "4"},
                                    {"--d-model", "12", "--heads", "3", "--d-k", "2", "--d-v", "5"},
                                    {"--heads", "4", "--kv-heads", "2", "--block"},
                                    {"--dropout", "0.5", "--query", "cat"},
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
  const auto steps_of = [](Words words) {
    const bool chosen = std::ranges::any_of(words, [](const std::string& word) {
      return word == "--step" || word == "--query" || word.starts_with("--why");
    });
    words.insert(words.begin(), "The cat sat down");
    if (!chosen) words.insert(words.end(), {"--step", "1-16"});  // without the experiments, which take the time
    return explain(words);
  };
  std::set<std::string> printed = {steps_of({}).out};
  for (const Words& words : calls) {
    const std::string first = testing::PrintToString(words);
    const Outcome outcome = steps_of(words);
    EXPECT_EQ(outcome.code, 0) << first << outcome.err;
    EXPECT_TRUE(printed.insert(outcome.out).second) << first << " prints what another call prints";
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
  const std::vector<Misuse> calls = {
      {{},
       "TEXT: expected some words, \"The cat sat down\" (or --npz, or --q, --k and --v), got "
       "none"},
      {{""}, "TEXT: expected a value, got \"\""},
      {{"c\377t"}, "TEXT: expected a text in UTF-8, got the byte 0xFF at byte 1 (counted from 0)"},
      {{"cat", "--heads", "3"}, "--heads: expected a divisor of --d-model = 8 (or a --d-k of your own), got 3"},
      {{"cat", "--kv-heads", "3"}, "--kv-heads: expected a divisor of --heads, 2, got 3"},
      {{"cat", "--dropout", "1"}, "--dropout: expected a number from 0, below 1, got 1"},
      {{"The", "cat", "sat"}, "TEXT: put a text of several words in quotes: qkv explain \"The cat sat\""},
      {{"cat", "--quiet"}, "--quiet: expected --html, --svg or --png beside it, got none of them"},
      {{"cat", "--print"}, "--print: expected --html, --svg or --png beside it, got none of them"},
      {{"cat", "--html", "-", "--json"},
       "--json: expected it without --html - (standard output holds one of them), got both"},
      {{"cat", "--html", "-", "--print"},
       "--print: expected it without --html - (standard output holds one of them), got both"},
      {{"cat", "--html", "-", "--quiet"}, "--quiet: expected it without --html -, got both"},
      {{"cat", "--html", "x.html", "--json", "--quiet"}, "--quiet: expected it without --json, got both"},
      {{"cat", "--mask", "wibble"},
       "--mask: column 1: expected a mask (all, none, causal, …), got `wibble`; `qkv mask` lists all words\n  wibble\n "
       " ^"},
      {{"cat", "--bias", "wibble"},
       "--bias: column 1: expected a bias (alibi, t5, dense, …), got `wibble`\n  wibble\n  ^"},
      {{"cat", "--query", "dog"}, "--query: expected one of the tokens, by word or by index: 0 cat, got \"dog\""},
      {{"cat", "--step", "99"},
       "--step: expected one or several of 1 tokens, 2 ids, 3 embeddings, 4 positions, 5 x, 6 queries, 7 keys, 8 "
       "values, 9 "
       "scores, 10 scaled, 11 masked, 12 softmax, 13 sum, 14 heads, 15 concat, 16 output, got \"99\""},
      {{"cat", "--why", "wibble"},
       "--why: expected all, variance, saturation, no-scale, order, mask-after-softmax, minus-1e9, mask-shape, "
       "softmax-axis, transpose, packing or epsilon, got \"wibble\""},
      {{"cat", "--positions", "wibble"},
       "--positions: expected none, sinusoidal, learned, rotary, alibi or t5, got \"wibble\""},
      {{"cat", "--position", "none"}, "there is no option --position; did you mean --positions?"},
      {{"cat", "--scale", "abc"}, "--scale: expected a number from -1000000 to 1000000, got \"abc\""},
      {{"cat", "--softcap", "abc"}, "--softcap: expected a number above 0, up to 1000000, got \"abc\""},
      {{"cat", "--dropout", "abc"}, "--dropout: expected a number from 0, below 1, got \"abc\""},
      {{"cat", "--heads", "abc"}, "--heads: expected a whole number from 1 to 4096, got \"abc\""},
      {{"cat", "--heads", "1.5"}, "--heads: expected a whole number from 1 to 4096, got 1.5"},
      {{"cat", "--block", "sideways"}, "--block: expected pre-norm or post-norm, got \"sideways\""},
      {{"cat", "--bias", "t5", "--positions", "rotary"},
       "--bias: expected another beside --positions rotary (T5's buckets are the positions), got t5"},
      {{"cat", "--scale", "nan"}, "--scale: expected a finite number, got nan"},
      {{"cat", "dog"}, "TEXT: put a text of several words in quotes: qkv explain \"cat dog\""},
      {{"--worked", "wibble"}, "--worked: expected one of vectors"},
      {{"--worked", "list", "--heads", "3"},
       "--heads: expected it without --worked (an example has its own), got both"},
      {{"--worked", "gpt3-memory", "--causal"},
       "--causal: expected it without --worked (an example has its own), got both"},
      {{"--npz", "x.npz", "--positions", "none"},
       "--positions: expected it without --npz (own tensors are taken as they are), got both"},
      {{"--q", "[[1]]"}, "--k: expected a tensor beside the others: q, k and v go together, got none"},
      {{"--q", "[[1],[1,2]]", "--k", "[[1]]", "--v", "[[1]]"},
       "--q: expected rows of one length, 1 as the first, got \"[[1],[1,2]]\""},
      {{"a b c", "--q", "[[1]]", "--k", "[[1]]", "--v", "[[1]]"},
       "TEXT: expected 1 word to name the 1 row of q and of k, got 3 words"},
      {{"--q", "[[1e400]]", "--k", "[[1]]", "--v", "[[1]]"},
       "--q: expected numbers in the range of f64, up to 1.8e308 and down to 4.9e-324, got 1e400"},
      {{"--q", "[[1]]", "--heads", "2"},
       "--heads: expected it without --q (own tensors are taken as they are), got both"},
      {{"--q", "[[1]]", "--npz", "x.npz"}, "--npz: expected it without --q (the file holds all three), got both"},
      {{"--npz", "x.npz", "--seed", "1"},
       "--seed: expected it without --npz, or --dropout above 0 beside it (nothing else is drawn), got both"},
      {{"--npz", "x.npz", "--bias", "t5"},
       "--bias: expected another beside --npz (T5's table is drawn with the parameters), got t5"},
      {{"cat", "--seed", "99999999999999999999"},
       "--seed: expected a whole number from 0 to 18446744073709551615, got 99999999999999999999"},
      {{"cat", "--seed", "-1"}, "--seed: expected a whole number from 0 to 18446744073709551615, got -1"},
      {{"--why", "variance"},
       "TEXT: expected some words, \"The cat sat down\" (or --npz, or --q, --k and --v), got "
       "none"},
      {{"--why=order,packing"},
       "TEXT: expected some words, \"The cat sat down\" (or --npz, or --q, --k and --v), got "
       "none"},
      {{"--block", "pre-norm"},
       "TEXT: expected some words, \"The cat sat down\" (or --npz, or --q, --k and --v), got "
       "none"},
      {{"cat", "--step", ""}, "--step: expected a value, got \"\""},
      {{"cat", "--d-k", "3", "--positions", "rotary"},
       "--d-k: expected an even width, because rotary positions turn pairs, got 3"}};
  for (const Misuse& call : calls) {
    const Outcome outcome = explain(call.words);
    EXPECT_EQ(outcome.code, 2) << testing::PrintToString(call.words);
    EXPECT_THAT(outcome.err, StartsWith("qkv explain: " + call.message));
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

// A build without node has no pages to write.
bool has_no_studio(const Outcome& outcome) { return outcome.err.find("has no studio") != std::string::npos; }

TEST(ExplainCommand, HelpSaysWhatKindOfValueAnOptionTakes) {
  const std::string help = explain({"--help"}).out;
  for (const char* part : {"--html FILE", "--svg DIR", "--mask EXPR", "--query WORD", "[=KIND]", "--all[=full]"}) {
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
      {"The cat sat", "--html", directory / "page.html", "--svg", directory / "svg", "--png", directory / "png"});
  if (has_no_studio(outcome)) GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "page      " + directory / "page.html" + "\npictures  " + directory / "svg" +
                             "/*.svg\npictures  " + directory / "png" + "/*.png\n");
  std::stringstream page;
  page << std::ifstream(directory / "page.html").rdbuf();
  EXPECT_THAT(page.str(), testing::StartsWith("<!doctype html>"));
  EXPECT_TRUE(std::filesystem::exists(directory / "svg/12-softmax-head0.svg"));
  EXPECT_TRUE(std::filesystem::exists(directory / "png/12-softmax-head1.png"));
  EXPECT_TRUE(std::filesystem::exists(directory / "svg/why-variance.svg"));
}

TEST(ExplainCommand, WritesThePageStepWhereAProjectionHasAtMost65536Numbers) {
  const auto page_of = [](const std::string& d_v) {
    return explain({"The cat sat", "--d-model", "64", "--heads", "1", "--d-v", d_v, "--html", "-"});
  };
  const Outcome largest = page_of("1024");
  if (has_no_studio(largest)) GTEST_SKIP() << largest.err;
  EXPECT_THAT(largest.out, HasSubstr("#/step?"));
  const Outcome wider = page_of("1025");
  EXPECT_EQ(wider.code, 0) << wider.err;
  EXPECT_THAT(wider.out, AllOf(HasSubstr("#/explain?"), Not(HasSubstr("#/step?"))));
}

TEST(ExplainCommand, PrintsBesideFilesOnlyWhatWasAskedFor) {
  const TemporaryDirectory directory;
  const std::string page = directory / "page.html";
  const Outcome quiet = explain({"cat", "--html", page, "--quiet"});
  if (has_no_studio(quiet)) GTEST_SKIP() << quiet.err;
  EXPECT_EQ(quiet.out, "");
  EXPECT_TRUE(std::filesystem::exists(page));
  EXPECT_THAT(explain({"cat", "--html", page, "--print"}).out, AllOf(HasSubstr("── 12 Softmax"), HasSubstr(page)));
  EXPECT_THAT(explain({"cat", "--html", "-"}).out,
              AllOf(testing::StartsWith("<!doctype html>"), testing::EndsWith("</html>\n")));
  EXPECT_FALSE(std::filesystem::exists("-"));
}

TEST(ExplainCommand, DoesNotMakeTheDirectoryOfAPage) {
  const TemporaryDirectory directory;
  const Outcome outcome = explain({"cat", "--html", directory / "sub/page.html"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "qkv explain: --html: cannot write " + directory / "sub/page.html" +
                             ": there is no directory " + directory / "sub" + "\n");
  EXPECT_FALSE(std::filesystem::exists(directory / "sub"));
}

TEST(ExplainCommand, AQueryOrAWhyComesAlone) {
  const std::string query = explain({"The cat sat", "--query", "cat"}).out;
  EXPECT_THAT(query, AllOf(HasSubstr("“cat” (position 1)"), Not(HasSubstr("── 1 ")), Not(HasSubstr("── ?"))));
  const std::string why = explain({"The cat sat", "--why=variance"}).out;
  EXPECT_THAT(why, AllOf(HasSubstr("── ? Why divide by √d_k?"), Not(HasSubstr("── 1 ")), Not(HasSubstr("Softmax:"))));
  const std::string all = explain({"The cat sat", "--query", "cat", "--all"}).out;
  EXPECT_THAT(all, AllOf(HasSubstr("── 1 "), HasSubstr("“cat” (position 1)"), HasSubstr("── ?")));
  const nlohmann::json json = nlohmann::json::parse(explain({"The cat sat", "--query", "cat", "--json"}).out);
  ASSERT_EQ(json["parts"].size(), 1U);
  EXPECT_EQ(json["parts"][0]["kind"], "query");
}

TEST(ExplainCommand, ReadsATextFromStandardInput) {
  const TemporaryDirectory directory;
  write_file(directory / "text", std::string_view("The cat\nsat\n"));
  const Outcome outcome = run_qkv_from(directory / "text", {"explain", "-", "--json"});
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["tokens"], (Words{"The", "cat", "sat"}));
  write_file(directory / "text", std::string((std::size_t{1} << 20) + 1, 'a'));
  EXPECT_THAT(run_qkv_from(directory / "text", {"explain", "-"}).err, HasSubstr("expected a text of at most 1048576"));
}

TEST(ExplainModel, LeavesTheEndOfStandardInputOut) {
  const TemporaryDirectory directory;
  write_file(directory / "text", std::string_view("The cat\n"));
  const Outcome outcome = run_qkv_from(directory / "text", {"explain", "--model", "gpt", "-", "--json"});
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["tokens"], (Words{"The", "␣cat"}));
}

TEST(ExplainCommand, ShowsGroupedHeadsAndDroppedWeights) {
  const auto json = nlohmann::json::parse(
      explain({"a b c d", "--heads", "4", "--kv-heads", "2", "--dropout", "0.5", "--seed", "3", "--json"}).out);
  EXPECT_EQ(json["tensors"]["q"]["shape"], (std::vector<int>{4, 4, 2}));
  EXPECT_EQ(json["tensors"]["k"]["shape"], (std::vector<int>{2, 4, 2}));
  for (std::int64_t h = 0; h < 4; ++h) {
    for (std::int64_t i = 0; i < 4; ++i) {
      for (std::int64_t j = 0; j < 4; ++j) {
        const auto place = static_cast<std::size_t>(16 * h + 4 * i + j);
        const double weight = json["tensors"]["weights"]["values"][place];
        const double left = dropout_keeps(3, 0.5, {0, h, i, j}) ? weight / 0.5 : 0.0;
        EXPECT_EQ(json["tensors"]["dropped"]["values"][place].get<double>(), left);
      }
    }
  }
}

TEST(ExplainCommand, PrintsJson) {
  const nlohmann::json json = nlohmann::json::parse(explain({"The cat sat", "--json"}).out);
  EXPECT_EQ(json["tokens"], (Words{"The", "cat", "sat"}));
  const auto count = [&](const char* kind) {
    return std::ranges::count(json["parts"], kind, [](const auto& part) { return part["kind"]; });
  };
  EXPECT_EQ(count("step"), 16);
  EXPECT_EQ(count("why"), 10);
}

TEST(ExplainCommand, StartsAtTheReadersOwnTensors) {
  const TemporaryDirectory directory;
  Generator generator(1);
  const Tensor q = generator.randn({2, 3, 4});
  const std::vector<NamedView> members = {{"Q", q.view()}, {"K", q.view()}, {"V", q.view()}};
  write_file(directory / "qkv.npz", encode_npz(members));
  const Outcome outcome = explain({"--npz", directory / "qkv.npz", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["parts"][0]["id"], "tensors");
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
  const auto json = nlohmann::json::parse(explain({"--worked", "list", "--json"}).out);
  ASSERT_EQ(json.size(), count);
  EXPECT_EQ(json[0]["name"], "vectors");
  EXPECT_EQ(json[0]["title"], "A dot product, and the angle between two vectors");
}

TEST(ExplainCommand, TakesMatricesTypedOnTheLine) {
  const auto json = nlohmann::json::parse(
      explain({"a b", "--q", "[[1,0],[0,1]]", "--k", "[[1, 0], [1, 1]]", "--v", "[[2],[3]]", "--scale", "1", "--json"})
          .out);
  EXPECT_EQ(json["tensors"]["raw"]["values"], nlohmann::json::parse("[1.0, 1.0, 0.0, 1.0]"));
  EXPECT_EQ(json["tensors"]["out"]["values"][0], 2.5);  // equal scores: the mean of 2 and 3
  EXPECT_EQ(json["tokens"], (Words{"a", "b"}));
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
  const Outcome outcome = run_qkv({"explain", "--model", model, "--example", "0"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("What the model says"), HasSubstr("Tokens, layer 0, head "),
                                 HasSubstr("induction (tokens)"), HasSubstr("--all adds the heads that show a pattern"),
                                 HasSubstr("best: a"), Not(HasSubstr("Raw scores"))));
  EXPECT_THAT(run_qkv({"explain", "--model", model, "--example", "0", "--query", "3"}).out,
              AllOf(HasSubstr("written out"), Not(HasSubstr("What the model says"))));
  const std::string all = run_qkv({"explain", "--model", model, "--example", "0", "--all=full"}).out;
  EXPECT_THAT(all, AllOf(HasSubstr("Layer 0, tokens: Raw scores"), HasSubstr("These are the model's own"),
                         Not(HasSubstr("--all")), Not(HasSubstr("model heads"))));
  EXPECT_EQ(run_qkv({"explain", "--model", model, "abcxyzab", "--step", "says"}).code, 0);
}

TEST(ExplainModel, AnswersInTheOtherLanguage) {
  const TemporaryDirectory directory;
  const std::string model = trained_for_moments(directory, "translation");
  const Outcome outcome = run_qkv({"explain", "--model", model, "some umbrellas are heavy", "--width", "120"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("says: "), HasSubstr("Cross, layer 0, head"), HasSubstr("umbrel")));
  const Outcome whole = run_qkv({"explain", "--model", model, "some umbrellas are heavy", "--all=full"});
  EXPECT_THAT(whole.out, AllOf(HasSubstr("What every head looks at: cross"), HasSubstr("Layer 0, cross: Raw scores")));
}

TEST(ExplainModel, ReadsAPicture) {
  const TemporaryDirectory directory;
  const std::string model = trained_for_moments(directory, "shapes");
  ASSERT_EQ(run_qkv({"mask", "causal", "--tq", "8", "--tk", "8", "--png", directory / "m.png"}).code, 0);
  const Outcome outcome = run_qkv({"explain", "--model", model, directory / "m.png", "--step", "heads-cross"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("[H, Tq, Tk] = [2, "));
}

TEST(ExplainModel, WritesTheSum) {
  const TemporaryDirectory directory;
  const std::string model = trained_for_moments(directory, "addition");
  const auto json_of = [&](Words more) {
    more.insert(more.begin(), {"explain", "--model", model, "1234+3421=", "--json"});
    return nlohmann::json::parse(run_qkv(more).out);
  };
  const nlohmann::json sum = json_of({});
  EXPECT_EQ(sum["tokens"].size(), 14U);  // the sum's fifth digit is said at the fourth
  // Five digits, or whatever else a model says that has learned nothing.
  EXPECT_THAT(sum["notes"].at(0).get<std::string>(),
              testing::AnyOf(testing::MatchesRegex("says: [0-9]+ .written from the ones up: [0-9]{5}."),
                             testing::MatchesRegex("says: .{5}")));
  EXPECT_THAT(sum["notes"].dump(), testing::Not(HasSubstr("careful: it learned")));
  const Outcome short_sum = run_qkv({"explain", "--model", model, "12+34="});
  EXPECT_THAT(short_sum.out, HasSubstr("careful: it learned to add numbers of 4 digits; these have 2 and 2: write"));
  EXPECT_THAT(run_qkv({"explain", "--model", model, "1234+3421=1234567"}).err,
              HasSubstr("TEXT: expected a text of at most 14 tokens, for which there are learned positions, got 17"));
  EXPECT_EQ(json_of({"--answer", "2"})["tokens"].size(), 12U);
}

TEST(ExplainModel, LaysTheWordsOfACaptionOverItsImage) {
  const TemporaryDirectory directory;
  const std::string model = trained_for_moments(directory, "shapes");
  const Outcome outcome = run_qkv({"explain", "--model", model, "--example", "0"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("The image"), HasSubstr("Where each token looks"), HasSubstr("object"),
                                 HasSubstr("weight on them"), HasSubstr("expected: ")));
}

TEST(ExplainModel, HoldsAPictureAgainstCaptions) {
  const TemporaryDirectory directory;
  const std::string out = directory / "pair";
  ASSERT_EQ(run_qkv({"train", "shapes", "--model", "two-tower", "--layers", "1", "--d-model", "16", "--heads", "2",
                     "--steps", "2", "--batch", "2", "--examples", "2", "--out", out})
                .code,
            0);
  ASSERT_EQ(run_qkv({"mask", "causal", "--tq", "8", "--tk", "8", "--png", directory / "m.png"}).code, 0);
  const auto ask = [&](Words words) {
    words.insert(words.begin(), {"explain", "--model", out + "/model.safetensors"});
    return run_qkv(words);
  };
  const Outcome outcome =
      ask({directory / "m.png", "--caption", "a red circle", "--caption", "a blue square", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["parts"][0]["id"], "captions");
  EXPECT_EQ(json["parts"][0]["tables"][0]["rows"].size(), 2U);
  EXPECT_THAT(json["notes"].at(0).get<std::string>(), testing::MatchesRegex("nearest: a .* \\(cosine .*\\)"));
  const auto rests = std::ranges::find(json["parts"], "rests-on", [](const auto& part) { return part["id"]; });
  ASSERT_NE(rests, json["parts"].end());
  EXPECT_EQ((*rests)["pictures"].size(), 4U);
  EXPECT_EQ(ask({"--example", "1"}).code, 0);
  EXPECT_THAT(ask({directory / "m.png"}).out, HasSubstr("the tower of images alone"));
  EXPECT_THAT(ask({directory / "m.png", "--caption", "a pink cat"}).err,
              HasSubstr("--caption: expected a piece of the vocabulary"));
  EXPECT_THAT(ask({"a red circle"}).out, HasSubstr("the tower of texts alone"));
  EXPECT_EQ(
      ask({"none.png"}).err,
      "qkv explain: TEXT: expected a PNG, which this model reads; what it may show is --caption, got \"none.png\", "
      "which is not there\n");
}

TEST(ExplainModel, SaysWhichWordIsNoPicture) {
  const tests::TemporaryDirectory directory;
  write_file(directory / "words.txt", std::string_view("a red circle"));
  const Outcome outcome = run_qkv({"explain", "--model", "shapes", directory / "words.txt"});
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(outcome.err, testing::StartsWith("qkv explain: TEXT: " + (directory / "words.txt")));
}

TEST(ExplainModel, ShowsTheHeadThatTheTextCallsFor) {
  const auto shown = [](const Words& more) {
    Words words = {"explain", "--model", "english", "--step", "head,patterns", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return nlohmann::json::parse(run_qkv(words).out);
  };
  const nlohmann::json pronoun = shown({"--example", "1"});
  EXPECT_EQ(pronoun["parts"][0]["title"], "One head: tokens, layer 0, head 3");
  EXPECT_THAT(pronoun["notes"].dump(),
              HasSubstr("shows \\\"pronoun-antecedent\\\" best: a mean weight of 0.99 in this text"));
  EXPECT_EQ(shown({"--example", "0"})["parts"][0]["title"], "One head: tokens, layer 1, head 5");
  const nlohmann::json named = shown({"--example", "1", "--head", "1.2"});
  EXPECT_EQ(named["parts"][0]["title"], "One head: tokens, layer 1, head 2");
  EXPECT_THAT(named["notes"].dump(), Not(HasSubstr("best: a")));
}

TEST(ExplainModel, FollowsAModelToItsAnswer) {
  const Words call = {"explain", "--model", "english", "--example", "1", "--width", "80"};
  const auto with = [&](const Words& more) {
    Words words = call;
    words.insert(words.end(), more.begin(), more.end());
    return run_qkv(words);
  };
  const std::string summary = with({}).out;
  EXPECT_THAT(summary, AllOf(HasSubstr("The answer at 6 “they”"), HasSubstr("as the model computed it"),
                             HasSubstr("What a head's removal does to “kings”"), Not(HasSubstr("resid_mid"))));
  EXPECT_THAT(with({"--block"}).out, AllOf(HasSubstr("blocks.0: attention"), HasSubstr("resid_mid: Residual stream"),
                                           HasSubstr("blocks.1: attention"), HasSubstr("resid_post: Residual")));
  EXPECT_THAT(with({"--query", "<find>", "--step", "answer"}).out, HasSubstr("The answer at 2 “<find>”"));
  const std::string why = with({"--why"}).out;
  EXPECT_THAT(why, AllOf(HasSubstr("head  mean of q·k  Var(q·k)  after scaling"), Not(HasSubstr("The answer at"))));
  EXPECT_THAT(with({"--why=epsilon"}).err, HasSubstr("expected all alone, or one or several of variance, no-scale"));
  EXPECT_EQ(with({"--block=post-norm"}).err,
            "qkv explain: --block: expected no kind beside --model, whose blocks are as it was trained, got "
            "\"post-norm\"\n");
}

TEST(ExplainModel, BeginsAllWithAnOverview) {
  const std::string all = run_qkv({"explain", "--model", "english", "--example", "1", "--all", "--width", "80"}).out;
  EXPECT_THAT(all, AllOf(HasSubstr("All heads at a glance"), HasSubstr("0.3   pronoun-antecedent"),
                         HasSubstr("What every head looks at"), Not(HasSubstr("Raw scores"))));
  EXPECT_LT(std::ranges::count(all, '\n'), 700);
  EXPECT_EQ(run_qkv({"explain", "--model", "english", "--example", "1", "--all=some"}).err,
            "qkv explain: --all: expected full, got \"some\"\n");
}

TEST(ExplainModel, ShowsImagesInTheirColours) {
  const TemporaryDirectory directory;
  const Outcome outcome = run_qkv({"explain", "--model", "shapes", "--example", "0", "--step", "picture,image",
                                   "--color", "true", "--print", "--png", directory / "png"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("▀"), HasSubstr("patches that the model should look at")));
  EXPECT_TRUE(std::filesystem::exists(directory / "png/05-picture.png"));
  EXPECT_TRUE(std::filesystem::exists(directory / "png/06-image.png"));
}

TEST(ExplainModel, SaysThatATextIsTooLong) {
  const TemporaryDirectory directory;
  const std::string out = directory / "copy";
  ASSERT_EQ(run_qkv({"train", "copy", "--positions", "learned", "--layers", "1", "--d-model", "16", "--heads", "2",
                     "--steps", "2", "--batch", "2", "--examples", "2", "--out", out})
                .code,
            0);
  const Outcome outcome = run_qkv({"explain", "--model", out + "/model.safetensors", "abcdefghijklmnopqrstuvwxyz"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, testing::StartsWith("qkv explain: TEXT: expected a text of at most 12 tokens, "));
}

TEST(ExplainModel, RefusesWhatHasNoMeaning) {
  const TemporaryDirectory directory;
  const std::string model = trained_for_moments(directory, "induction");
  const auto refused = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"explain", "--model", model});
    return run_qkv(words).err;
  };
  EXPECT_EQ(refused({"ab9"}), "qkv explain: TEXT: expected a piece of the vocabulary, got \"9\"\n");
  EXPECT_EQ(refused({}),
            "qkv explain: --model: expected TEXT, --example, --picture, --sound, --user or --messages beside it, got "
            "none of them\n");
  EXPECT_EQ(refused({"ab", "--layer", "1"}), "qkv explain: --layer: expected layer 0, the only one, got 1\n");
  EXPECT_EQ(refused({"ab", "--head", "1.0"}), "qkv explain: --head: expected layer 0, the only one, got 1\n");
  EXPECT_EQ(refused({"ab", "--head", "0.2"}), "qkv explain: --head: expected a head from 0 to 1, got 2\n");
  for (const char* const head : {"1", "1.*", "*.0", "1.-1", "1.0.0", "source:1.0"}) {
    EXPECT_EQ(refused({"ab", "--head", head}),
              std::string("qkv explain: --head: expected LAYER.HEAD, such as 1.5, got \"") + head + "\"\n");
  }
  EXPECT_EQ(refused({"ab", "--layer", "0", "--head", "1.0"}),
            "qkv explain: --head: expected a head of --layer 0, got \"1.0\"\n");
  EXPECT_EQ(refused({"ab", "--site", "cross"}), "qkv explain: --site: expected one of tokens, got cross\n");
  EXPECT_EQ(refused({"ab", "--causal"}),
            "qkv explain: --causal: expected it without --model (a model has its own), got both\n");
  EXPECT_EQ(refused({"ab", "--example", "1"}),
            "qkv explain: --example: expected it without TEXT (a model reads one of them), got both\n");
  EXPECT_EQ(refused({"ab", "--caption", "a"}),
            "qkv explain: --caption: expected a two-tower model, got one of kind decoder\n");
  EXPECT_EQ(refused({"--example", "1", "--answer", "2"}),
            "qkv explain: --answer: expected a text: an example brings its answer, got an example\n");
  EXPECT_EQ(refused({"ab", "--all", "--step", "says"}),
            "qkv explain: --step: expected it without --all (it has every step), got both\n");
  EXPECT_THAT(refused({"--example", "-1"}), HasSubstr("from 0 to 1099511627776, got -1"));
  for (const Words& words : {Words{"--answer", "2"}, Words{"--caption", "a"}, Words{"--layer", "0"}}) {
    Words call = {"explain", "ab"};
    call.insert(call.end(), words.begin(), words.end());
    EXPECT_EQ(run_qkv(call).err, "qkv explain: " + words[0] + ": expected --model beside it, got none\n");
  }
  EXPECT_THAT(run_qkv({"explain", "ab", "--all"}).err,
              HasSubstr("qkv explain: --all: expected --model, --query or --why beside it, got none of them"));
  EXPECT_THAT(run_qkv({"explain", "--model", "nonesuch", "ab"}).err, HasSubstr("no model \"nonesuch\" in the box"));
}

}  // namespace
}  // namespace qkv::tests::explain_test
