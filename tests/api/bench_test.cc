// The chapter's figure and the mistakes on it: the numbers of the studio's first ten stories.
#include "qkv/api/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "ask.h"
#include "qkv/api/questions.h"
#include "qkv/api/studio.h"
#include "qkv/explain.h"

namespace qkv {
namespace {

void expect_near(const std::vector<double>& got, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t n = 0; n < got.size(); ++n) EXPECT_NEAR(got[n], expected[n], tolerance) << "number " << n;
}

TEST(BenchQuestion, ShowsTheChaptersFigure) {
  const Answer answer = ask("bench", "{}");
  EXPECT_EQ(answer.json["queries"], Json({"the", "cat", "sat"}));
  expect_near(answer.row("raw", 1), {0, 1, 1}, 0);
  expect_near(answer.row("weights", 1), {0.198, 0.401, 0.401}, 5e-4);
  expect_near(answer.row("out", 1), {0.797, 1.604}, 5e-4);
  EXPECT_EQ(answer.json["steps"].size(), 5U);
  EXPECT_EQ(answer.json["steps"][3]["inner"].size(), 4U);
  EXPECT_TRUE(answer.json["back"].empty());
  EXPECT_TRUE(answer.json["remarks"].empty());
}

TEST(BenchQuestion, SpeaksOfTheSecondWordOrTheOnlyOne) {
  EXPECT_EQ(ask("bench", R"({"tokens": "the cat", "seed": 42})").json["query"], 1);
  EXPECT_EQ(ask("bench", R"({"tokens": "hello", "seed": 42})").json["query"], 0);
  EXPECT_EQ(ask("number", R"({"tokens": "hello", "seed": 42, "of": "weights:0,0"})").json["value"], 1);
  EXPECT_EQ(refused_field("bench", R"({"tokens": "hello", "seed": 42, "query": 1})"), "query");
}

TEST(BenchQuestion, SaysHowManyTimesAlikeEachWeightIs) {
  const Answer answer = ask("bench", R"({"mask": "causal"})");
  const std::vector<double> weights = answer.row("weights", 1);
  const std::vector<float> times = answer.numbers<float>(answer.json["times_uniform"]);
  expect_near({times.begin() + 3, times.begin() + 6}, {2 * weights[0], 2 * weights[1], 0}, 1e-6);  // of two keys
  EXPECT_EQ(times[0], 1);
}

// A longer text keeps one row of the matrices of pairs.
TEST(NumberQuestion, WritesOutEveryNumberOfALongerText) {
  std::string words;
  for (int n = 0; n < 70; ++n) words += std::to_string(n) + " ";
  Json request{{"tokens", words}, {"seed", 42}, {"query", 5}};
  Studio studio;
  const Json bench = Json::parse(studio.ask("bench", request.dump()).json);
  for (const Json& matrix : bench["matrices"]) {
    const auto first = matrix["first_row"].get<std::int64_t>();
    const auto rows = matrix["values"]["shape"][0].get<std::int64_t>();
    for (std::int64_t row = first; row < first + rows; ++row) {
      request["of"] = matrix["name"].get<std::string>() + ":" + std::to_string(row) + ",0";
      EXPECT_NO_THROW(static_cast<void>(studio.ask("number", request.dump()))) << request["of"];
    }
  }
}

TEST(BenchQuestion, NamesAllKeysOfTheLargestWeight) {
  const auto said = [](const std::string& request) {
    return std::string(ask("bench", request).json["steps"][3]["sentence"]);
  };
  EXPECT_TRUE(said("{}").ends_with("“cat” takes most from “cat” and “sat”: 40.1 % each."));
  EXPECT_TRUE(said(R"({"query": 2})").ends_with("“sat” takes most from “sat”: 50.3 %."));
  EXPECT_TRUE(said(R"({"scale": 0})").ends_with("“cat” takes most from 3 words alike: 33.3 % each."));
}

// What is said of a row holds for that row.
TEST(BenchQuestion, SaysOfARowThatSeesNothingWhatIsTrueOfIt) {
  const Json steps = ask("bench", R"({"mask": "none"})").json["steps"];
  const auto inner = [&](std::size_t step, const std::string& id) {
    for (const Json& one : steps[step]["inner"]) {
      if (one["id"] == id) return one;
    }
    return Json();
  };
  EXPECT_EQ(inner(2, "masked")["sentence"],
            "The mask none hides 3 of 3 keys from “cat”: their scores become −∞, their weights 0.");
  EXPECT_EQ(steps[3]["sentence"], "“cat” sees nothing: all its weights are 0.");
  EXPECT_EQ(inner(3, "max")["sentence"],
            "“cat” sees nothing: all its scores are −∞, and there is no largest one to take out.");
  EXPECT_EQ(inner(3, "exp")["sentence"], "e to the power of −∞ is 0.");
  EXPECT_EQ(inner(3, "total")["sentence"], "There is nothing to lay end to end: the sum is 0.");
  EXPECT_EQ(inner(3, "divide")["sentence"], "Nothing is divided by a sum of 0: all weights are 0.");
  EXPECT_EQ(inner(3, "divide")["formulas"][0]["text"], "α₂₁ = 0");  // not 0/0
  EXPECT_EQ(inner(3, "exp")["formulas"][0]["text"], "e₂₁ = 0");
  EXPECT_EQ(steps[4]["sentence"], "“cat” sees nothing: there is nothing to mix, and its output is all zeros.");
  const Json back = ask("bench", R"({"mask": "none", "move": "1,0"})").json["back"];
  EXPECT_EQ(back[3]["sentence"], "“cat” sees nothing: no score of it moves the output, and its row is all 0.");
}

TEST(BenchQuestion, SaysOfOneKeyAndOfScalesWhatIsTrue) {
  const auto steps = [](const std::string& request) { return ask("bench", request).json["steps"]; };
  const Json first = steps(R"({"mask": "causal", "query": 0})");
  EXPECT_EQ(first[4]["sentence"], "The output of “the” is the value of “the” as it is: no other key has a share.");
  EXPECT_EQ(first[3]["inner"][1]["sentence"],
            "e to the power of each score makes all that are seen positive, and large ones stand out; of −∞ it is 0.");
  const Json last = steps(R"({"mask": "causal", "query": 2})");
  EXPECT_EQ(last[4]["sentence"], "The output of “sat” is the values, mixed in these shares: it lies between them.");
  EXPECT_EQ(last[2]["inner"][0]["sentence"], "The mask causal hides no key from “sat”: its scores stay as they are.");
  EXPECT_TRUE(
      steps("{}")[1]["sentence"].get<std::string>().ends_with("The best fits are “cat” and “sat”, with 1 each."));
  EXPECT_EQ(steps(R"({"scale": -0.5})")[2]["sentence"],
            "Each product is multiplied by −0.500, as asked. That turns their order round: the best fit gets the "
            "lowest score.");
  EXPECT_EQ(steps(R"({"scale": 0})")[2]["sentence"],
            "Each product is multiplied by 0, as asked. All keys score alike.");
}

TEST(BenchQuestion, SaysOfAMaskAfterTheSoftmaxWhatTheRowAddsUpTo) {
  const auto said = [](const std::string& more) {
    return ask("bench", R"({"wrong": "mask-after")" + more + "}").json["wrong"]["sentence"].get<std::string>();
  };
  EXPECT_EQ(said(""), "Masked with causal after the softmax, the weights of the chosen row add up to 0.599, not 1.");
  EXPECT_EQ(said(R"(, "query": 2)"),
            "Masked with causal after the softmax, the weights of the chosen row add up to 1.000, for it sees every "
            "key: look at another row.");
  EXPECT_TRUE(said(R"(, "mask": "none")").ends_with(": it sees nothing, before the softmax or after it."));
}

TEST(BenchQuestion, ShowsAHeadOfADrawnModel) {
  ExplainOptions options;
  options.text = "The cat sat down";
  options.mask = causal();
  options.position = Positions::alibi;
  options.whys = false;
  const Explanation explanation = explain(options);
  const Answer answer =
      ask("bench", R"({"tokens": "The cat sat down", "mask": "causal", "positions": "alibi", "seed": 42, "head": 1})");
  for (std::int64_t row = 0; row < 4; ++row) {
    for (const char* name : {"q", "weights", "out"}) {
      const std::vector<double> expected = explanation.tensor(name).view().select(0, 1).select(0, row).to_vector();
      expect_near(answer.row(name, static_cast<std::size_t>(row)), expected, 1e-12);
    }
    expect_near(answer.row("output", static_cast<std::size_t>(row)),
                explanation.tensor("output").view().select(0, row).to_vector(), 1e-12);
  }
  EXPECT_EQ(answer.json["steps"].size(), 6U);
  EXPECT_EQ(ask("number", R"({"tokens": "a b", "seed": 1, "of": "output:1,0"})").json["sources"],
            Json({"concat:1,*", "w_o:*,0"}));
}

TEST(ExplainQuestion, HoldsEveryStepOfTheExplanation) {
  const Answer answer =
      ask("explain", R"({"text": "The cat sat down", "causal": true, "query": "cat", "all": "full"})");
  ExplainOptions options;
  options.text = "The cat sat down";
  options.mask = causal();
  options.query = "cat";
  const Explanation explanation = explain(options);
  ASSERT_EQ(answer.json["parts"].size(), explanation.steps.size() + 1 + explanation.whys.size());
  for (std::size_t n = 0; n < explanation.steps.size(); ++n) {
    EXPECT_EQ(answer.json["parts"][n]["title"], explanation.steps[n].title);
    EXPECT_EQ(answer.json["parts"][n]["maps"].size(), explanation.steps[n].heatmaps.size());
  }
  EXPECT_EQ(refused_field("explain", R"({"text": "cat", "heads": 3})"), "heads");
}

TEST(BenchQuestion, RemarksOnTheRoundedSumOfTheChapter) {
  const Answer answer = ask("bench", R"({"query": 2})");
  expect_near(answer.row("out", 2), {1.000, 1.248}, 5e-4);
  ASSERT_EQ(answer.json["remarks"].size(), 1U);
  EXPECT_NE(answer.json["remarks"][0].get<std::string>().find("0.999"), std::string::npos);
}

TEST(BenchQuestion, FollowsAnEdit) {
  EXPECT_NEAR(ask("bench", R"({"k": "1,0;0,1;1,4"})").row("weights", 1)[2], 0.848, 5e-4);
  expect_near(ask("bench", R"({"q": "1,0;1,1;1,1"})").row("out", 1), {1.000, 1.248}, 5e-4);
}

TEST(BenchQuestion, GoesBackAndNudges) {
  const Answer answer = ask("bench", R"({"move": "1,0", "nudge": "q:1,1:0.01"})");
  expect_near(answer.row("d_scores", 1), {0.238, -0.320, 0.082}, 5e-4);
  EXPECT_NEAR(answer.json["nudge"]["predicted"].get<double>(), -0.00168, 5e-6);
  EXPECT_NEAR(answer.json["nudge"]["found"].get<double>(), -0.00168, 5e-6);
  EXPECT_EQ(answer.json["back"].size(), 5U);
}

TEST(BenchQuestion, ShowsMistakesBesideWhatIsRight) {
  const auto wrong = [](const std::string& id, const std::string& more = "") {
    return ask("bench", R"({"wrong": ")" + id + "\"" + more + "}");
  };
  Answer answer = wrong("mask-after");
  EXPECT_NEAR(answer.numbers(answer.json["wrong"]["sums"])[1], 0.599, 5e-4);
  answer = wrong("no-scale", R"(, "wrong_d": 512)");
  const auto sentence = answer.json["wrong"]["sentence"].get<std::string>();
  EXPECT_NE(sentence.find("0.933"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("0.105"), std::string::npos) << sentence;
  answer = wrong("minus-1e9");
  const std::vector<double> wrong_out = answer.numbers(answer.json["wrong"]["wrong"]);
  expect_near({wrong_out[2], wrong_out[3]}, {1, 4.0 / 3}, 1e-9);
  expect_near(answer.numbers(answer.json["wrong"]["right"]), {0, 0, 0, 0, 0, 0}, 0);
  answer = wrong("wrong-axis");
  EXPECT_NEAR(answer.numbers(answer.json["wrong"]["sums"])[1], 0.847, 5e-4);
  answer = wrong("no-max");
  EXPECT_TRUE(std::isnan(answer.numbers(answer.json["wrong"]["wrong"])[8]));
  answer = wrong("shuffled");
  EXPECT_TRUE(answer.json["wrong"]["first"].empty());
  answer = wrong("no-transpose");  // keys 1 and 3: keys 1 and 2 are a symmetric square
  EXPECT_EQ(answer.json["wrong"]["first"], Json({0, 1}));
  EXPECT_THAT(answer.json["wrong"]["sentence"].get<std::string>(), testing::HasSubstr("the first 1 and key 3"));
  EXPECT_TRUE(wrong("no-transpose", R"(, "k": "1,1;1,1;1,1")").json["wrong"]["first"].empty());
  EXPECT_EQ(wrong("no-transpose", R"(, "k": "1,2;0,1;1,1")").json["wrong"]["first"], Json({0, 1}));
}

TEST(BenchQuestion, MakesQueriesKeysAndValuesOfX) {
  const std::string request =
      R"({"x": "1,0;0,1;1,1", "w_q": "0,1;1,0", "w_k": "1,0;0,1", "w_v": "2,0;0,3", "move": "1,0")";
  const Answer answer = ask("bench", request + "}");
  expect_near(answer.row("q", 0), {0, 1}, 0);
  expect_near(answer.row("v", 2), {2, 3}, 0);
  EXPECT_EQ(answer.json["back"].size(), 6U);
  const Answer nudged = ask("bench", request + R"(, "nudge": "w_k:1,0:1e-4"})");
  EXPECT_NEAR(nudged.json["nudge"]["predicted"].get<double>(), nudged.json["nudge"]["found"].get<double>(), 1e-8);
  EXPECT_NE(nudged.json["nudge"]["found"].get<double>(), 0);
}

TEST(BenchQuestion, LaysOutAHeadOfAModel) {
  const Answer answer = ask("bench", R"({"model": "induction", "text": "abcxyzab", "layer": 1, "query": 7})");
  const auto best = answer.row("weights", 7);
  EXPECT_NEAR(best[2], 0.982, 1e-3);
}

TEST(NumberQuestion, WritesANumberOut) {
  const Json raw = ask("number", R"({"of": "raw:1,1"})").json;
  EXPECT_EQ(raw["formula"]["text"], "q₂ · k₂ = 0 · 0 + 1 · 1 = 1");
  const Json weight = ask("number", R"({"of": "weights:1,2"})").json;
  EXPECT_EQ(weight["label"], "α₂₃");
  EXPECT_EQ(weight["shown"], "0.4011");
  EXPECT_EQ(weight["sources"], Json({"exp:1,2", "sum:1,0"}));
  EXPECT_EQ(weight["uses"], Json({"parts:2,*", "out:1,*"}));
  EXPECT_EQ(ask("number", R"({"of": "q:1,0"})").json["uses"], Json({"raw:1,*"}));
}

TEST(NumberQuestion, EveryNumberHasAFormulaThatEndsInIt) {
  const std::string more = R"(, "mask": "causal", "bias": "alibi", "softcap": 3, "move": "1,0"})";
  const Answer bench = ask("bench", "{\"query\": 1" + more);
  for (const Json& matrix : bench.json["matrices"]) {
    const auto rows = matrix["values"]["shape"][0].get<int>();
    const auto columns = matrix["values"]["shape"][1].get<int>();
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        const std::string name = matrix["name"].get<std::string>() + ":" + std::to_string(i) + "," + std::to_string(j);
        const Json number = ask("number", R"({"of": ")" + name + "\"" + more).json;
        EXPECT_FALSE(number["formula"]["text"].get<std::string>().empty()) << name;
        EXPECT_FALSE(number["meaning"].get<std::string>().empty()) << name;
      }
    }
  }
}

TEST(BenchQuestion, RefusesWhatHasNoMeaning) {
  EXPECT_EQ(refused_field("bench", R"({"q": "1,0;0"})"), "q");
  EXPECT_EQ(refused_field("bench", R"({"q": "1,a"})"), "q");
  EXPECT_EQ(refused_field("bench", R"({"k": "1,0,0;0,1,0;1,1,1"})"), "k");
  EXPECT_EQ(refused_field("bench", R"({"v": "1;2"})"), "v");
  EXPECT_EQ(refused_field("bench", R"({"tokens": "a b"})"), "tokens");
  EXPECT_EQ(refused_field("bench", R"({"query": 3})"), "query");
  EXPECT_EQ(refused_field("bench", R"({"move": "3,0"})"), "move");
  EXPECT_EQ(refused_field("bench", R"({"nudge": "q:1,1:0.01"})"), "nudge");
  EXPECT_EQ(refused_field("bench", R"({"move": "1,0", "nudge": "out:1,1:0.01"})"), "nudge");
  EXPECT_EQ(refused_field("bench", R"({"move": "1,0", "nudge": "q:1,1"})"), "nudge");
  EXPECT_EQ(refused_field("bench", R"({"x": "1,0;0,1"})"), "x") << "which needs w_q beside it";
  EXPECT_EQ(refused_field("bench", R"({"wrong": "no-scal"})"), "wrong");
  EXPECT_EQ(refused_field("bench", R"({"model": "induction"})"), "model");
  EXPECT_THROW(ask("bench", R"json({"mask": "windw(3)"})json"), MaskSyntaxError);
  EXPECT_THROW(ask("number", R"({"of": "weights:1,3"})"), InvalidArgument);
  EXPECT_THROW(ask("bank", "{}"), InvalidArgument);
}

TEST(Studio, AnswersEveryExampleOfEveryQuestion) {
  Studio studio;
  // What reads files of the reader's, or writes some.
  const std::set<std::string> without{"train", "check", "match", "convert", "fetch"};
  for (const Question& question : questions()) {
    EXPECT_EQ(question.examples.empty(), without.contains(question.name)) << question.name;
    for (const std::string& example : question.examples) {
      if (!question.refusal.empty()) continue;
      EXPECT_NO_THROW(static_cast<void>(studio.ask(question.name, example))) << question.name << " " << example;
    }
  }
}

}  // namespace
}  // namespace qkv
