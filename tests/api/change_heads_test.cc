// Heads of a model that is changed, heads over pairs of texts, and numbers of a head that are set on the bench.
#include <gtest/gtest.h>

#include "ask.h"

namespace qkv {
namespace {

TEST(HeadQuestion, ShowsTheMapOfAModelThatIsChanged) {
  const std::string head = R"({"model": "induction", "text": "abcxyzab", "layer": 1)";
  const Answer before = ask("head", head + "}");
  const Answer cut = ask("head", head + R"(, "changes": "cut 1.0=7:2"})");
  const std::vector<float> was = before.numbers<float>(before.json["weights"]);
  const std::vector<float> is = cut.numbers<float>(cut.json["weights"]);
  EXPECT_GT(was[7 * 8 + 2], 0.9);
  EXPECT_EQ(is[7 * 8 + 2], 0);
  EXPECT_NEAR(was[6 * 8 + 1], is[6 * 8 + 1], 1e-5);
  EXPECT_NEAR(cut.numbers(cut.json["query_totals"])[7], 1, 1e-6);
  const Answer evenly = ask("head", head + R"(, "changes": "pattern 1.0=uniform"})");
  EXPECT_NEAR(evenly.numbers<float>(evenly.json["weights"])[7 * 8 + 2], 1.0 / 8, 1e-6);
  // What a layer reads is changed by a head of the layer before.
  const Answer upstream = ask("head", head + R"(, "changes": "remove 0.0"})");
  EXPECT_LT(upstream.numbers<float>(upstream.json["weights"])[7 * 8 + 2], 0.9);
}

TEST(HeadQuestion, GivesWeightsOverThoseOfAnEvenRow) {
  const Answer answer = ask("head", R"({"model": "induction", "text": "abcxyzab", "layer": 1})");
  const std::vector<float> weights = answer.numbers<float>(answer.json["weights"]);
  const std::vector<float> times = answer.numbers<float>(answer.json["times_uniform"]);
  EXPECT_FLOAT_EQ(times[7 * 8 + 2], 8 * weights[7 * 8 + 2]);
  EXPECT_FLOAT_EQ(times[2 * 8 + 1], 3 * weights[2 * 8 + 1]);
}

TEST(HeadQuestion, RefusesAPairWhereTheModelReadsNone) {
  EXPECT_EQ(refused_field("head", R"({"model": "induction", "text": "abc", "second": "abc"})"), "second");
  EXPECT_EQ(refused_field("head", R"({"model": "induction", "text": "abc", "changes": "cut 1.0=7:2"})"), "changes");
  for (const char* changes : {"", R"(, "changes": "remove 1.0; cut 1.0=7:2")"}) {
    const std::string request = R"({"model": "induction", "text": "abcxyzab", "from_text": "xyzabcxy")";
    EXPECT_EQ(refused_field("head", request + changes + "}"), "from_text") << changes;
  }
  EXPECT_EQ(refused_field("heads", R"({"model": "english", "text": "the cat sleeps", "second": "the cat sings"})"),
            "second");
}

TEST(BenchQuestion, SetsNumbersOfAModelsHead) {
  const std::string head = R"({"model": "induction", "text": "abcxyzab", "layer": 1, "query": 7)";
  const Answer before = ask("bench", head + "}");
  const Answer after = ask("bench", head + R"(, "set": "k:2,0:9; q:7,1:-0.5"})");
  EXPECT_EQ(after.row("k", 2)[0], 9);
  EXPECT_EQ(after.row("q", 7)[1], -0.5);
  EXPECT_EQ(after.row("k", 3), before.row("k", 3));
  EXPECT_NE(after.row("out", 7), before.row("out", 7));
  EXPECT_EQ(refused_field("bench", head + R"(, "set": "k:2"})"), "set");
  EXPECT_EQ(refused_field("bench", head + R"(, "set": "k:8,0:1"})"), "set");
  EXPECT_EQ(refused_field("bench", head + R"(, "set": "out:1,0:1"})"), "set");
}

TEST(BenchQuestion, HasTheSumsOfRowsThatMakeOneOrNothing) {
  const Answer answer = ask("bench", R"({"move": "1,0"})");
  EXPECT_NEAR(answer.numbers(answer.matrix("weights")["sums"])[1], 1, 1e-15);
  EXPECT_NEAR(answer.numbers(answer.matrix("d_scores")["sums"])[1], 0, 1e-15);
  EXPECT_TRUE(answer.matrix("scaled")["sums"].is_null());
}

TEST(ChangeQuestion, RunsAnEditOfTheBenchThroughTheModel) {
  const std::string start = R"({"model": "induction", "text": "abcxyzab", "changes": [)";
  // The head's output at the last place, as large as it is false.
  const Answer answer = ask("change", start + R"("set 1.0=q:7,0:20", "set 1.0=q:7,1:-20"]})");
  EXPECT_EQ(answer.json["interventions"], Json({"set 1.0=q:7,0:20", "set 1.0=q:7,1:-20"}));
  EXPECT_GT(answer.json["answer"]["before"]["probability"].get<double>(), 0.9);
  EXPECT_NE(answer.json["answer"]["after"]["probability"], answer.json["answer"]["before"]["probability"]);
  EXPECT_EQ(refused_field("change", start + R"("set 1.0=q:8,0:1"]})"), "changes");
}

TEST(NumberQuestion, WritesMinusesAndSmallNumbersAsPeopleDo) {
  const Json raw = ask("number", R"({"of": "raw:0,0", "q": "-1,0;0,1;1,1"})").json;
  EXPECT_EQ(raw["formula"]["text"], "q₁ · k₁ = (−1) · 1 + 0 · 0 = −1");
  EXPECT_EQ(raw["shown"], "−1.0000");
  const Json tiny = ask("number", R"({"of": "weights:0,1", "q": "70,0;0,1;1,1", "scale": 1})").json;
  EXPECT_EQ(tiny["shown"], "2.0 × 10⁻³¹, 1 in 5.0 × 10³⁰");
  const Json small = ask("number", R"({"of": "weights:0,1", "q": "15,0;0,1;1,1", "scale": 1})").json;
  EXPECT_EQ(small["shown"], "1.5 × 10⁻⁷, 1 in 6.5 million");
}

TEST(Errors, NameTheFieldOfAMaskOrABias) {
  const auto field_of = [](const std::string& request) {
    try {
      ask("bench", request);
      return std::string();
    } catch (const std::exception& error) {
      return Json::parse(error_as_json(error))["field"].get<std::string>();
    }
  };
  EXPECT_EQ(field_of(R"json({"mask": "windw(3)"})json"), "mask");
  EXPECT_EQ(field_of(R"json({"bias": "alibbi"})json"), "bias");
  EXPECT_EQ(field_of(R"json({"mask": "dense([[1, 0]])"})json"), "mask");
  EXPECT_EQ(field_of(R"json({"mask": "keys(99)"})json"), "mask");
}

TEST(MaskQuestion, StopsWhenAsked) {
  Studio studio;
  const StudioWatch stop = [](std::string_view, const ProbeProgress&) { return Proceed::stop; };
  EXPECT_THROW(static_cast<void>(studio.ask("mask", R"({"mask": "causal"})", stop)), Cancelled);
}

}  // namespace
}  // namespace qkv
