// What heads do, and what a change does, as pages ask.
#include "qkv/api/roles.h"

#include <gtest/gtest.h>

#include "ask.h"

namespace qkv {
namespace {

TEST(RolesQuestion, SaysWhatEachHeadDoes) {
  const Answer answer = ask("analyze", R"({"model": "induction", "count": 8, "importance": 4})");
  ASSERT_EQ(answer.json["heads"].size(), 2U);
  EXPECT_FALSE(answer.json["heads"][0]["word"].get<std::string>().empty());
  EXPECT_EQ(answer.json["heads"][1]["word"], "induction");
  EXPECT_GT(answer.json["heads"][1]["induction"].get<double>(), 0.8);
  EXPECT_GT(answer.json["heads"][1]["removal"].get<double>(), 1);
  EXPECT_EQ(answer.json["heads"][1]["shares"].size(), answer.json["patterns"].size());
}

TEST(RolesQuestion, HasAllOfTheAnalysis) {
  SiteHeads site{.site = AttentionSite::cross, .layers = 1, .heads = 2};
  site.all = {{.layer = 0, .head = 0, .nearest = 1, .nearest_distance = 0.25}, {.layer = 0, .head = 1}};
  site.all[0].shares = {{.weight_sum = 1.5, .even_sum = 0.5, .rows = 2}, {}};
  site.distances.push_back(Tensor(DType::f64, {2, 2}));
  HeadAnalysis analysis{.texts = 3, .tokens = 12, .sites = {site}, .no_importance = "not asked for"};
  analysis.patterns.push_back(
      {.pattern = "anti-diagonal", .description = "the mirrored place", .site = AttentionSite::cross, .weight = 0.8});
  const Json json = Json::parse(reply_as_json(roles_reply(analysis, "toy", "3 texts")));
  EXPECT_EQ(json["title"], "toy");
  EXPECT_EQ(json["text_count"], 3);
  EXPECT_TRUE(json["loss"].is_null());
  EXPECT_EQ(json["no_importance"], "not asked for");
  EXPECT_EQ(json["heads"][0]["shares"], Json({0.75, 0.0}));
  EXPECT_EQ(json["heads"][0]["even"], Json({0.25, 0.0}));
  EXPECT_EQ(json["heads"][0]["share_rows"], Json({2, 0}));
  EXPECT_EQ(json["heads"][0]["nearest"], 1);
  EXPECT_TRUE(json["heads"][1]["nearest"].is_null());
  EXPECT_EQ(json["sites"][0]["site"], "cross");
  EXPECT_EQ(json["sites"][0]["distances"][0]["shape"], Json({2, 2}));
  EXPECT_EQ(json["task_patterns"][0]["weight"], 0.8);
}

TEST(RolesQuestion, NamesTheHeadsOfTheTasksPatterns) {
  const Answer answer = ask("analyze", R"({"model": "reverse", "count": 16, "importance": 0})");
  ASSERT_EQ(answer.json["task_patterns"].size(), 1U);
  EXPECT_EQ(answer.json["task_patterns"][0]["pattern"], "anti-diagonal");
  EXPECT_EQ(answer.json["task_patterns"][0]["site"], "cross");
}

TEST(RolesQuestion, ReadsOwnTexts) {
  const Answer answer = ask("analyze", R"({"model": "induction", "texts": ["abcab", "xyzxy"], "importance": 0})");
  EXPECT_EQ(answer.json["tokens"], 10);
  EXPECT_TRUE(answer.json["heads"][0]["removal"].is_null());
  EXPECT_THROW(ask("analyze", R"({"model": "induction", "texts": "ABC"})"), InvalidArgument);
}

TEST(RolesQuestion, StopsWhenAsked) {
  Studio studio;
  const StudioWatch stop = [](std::string_view, const ProbeProgress&) { return Proceed::stop; };
  EXPECT_THROW(static_cast<void>(studio.ask("analyze", R"({"model": "induction"})", stop)), Cancelled);
}

TEST(ChangeQuestion, RemovesTheHeadThatInducts) {
  const Answer answer = ask("change", R"({"model": "induction", "text": "abcxyzab", "changes": ["remove 1.0"]})");
  EXPECT_EQ(answer.json["answer"]["piece"], "c");
  EXPECT_GT(answer.json["answer"]["before"]["probability"].get<double>(), 0.9);
  EXPECT_LT(answer.json["answer"]["after"]["probability"].get<double>(), 0.5);
  EXPECT_EQ(answer.json["interventions"], Json({"remove 1.0"}));
}

TEST(ChangeQuestion, SaysWhatAModelSaysUntouched) {
  const Answer answer = ask("change", R"({"model": "induction", "text": "abcxyzab", "untouched": true})");
  EXPECT_EQ(answer.json["interventions"], Json::array());
  EXPECT_EQ(answer.json["answer"]["before"], answer.json["answer"]["after"]);
  EXPECT_EQ(answer.json["place"], 7);
}

TEST(ChangeQuestion, RefusesWhatHasNoMeaning) {
  const std::string start = R"({"model": "induction", "text": "abcxyzab", )";
  EXPECT_EQ(refused_field("change", start + R"("changes": ["remove 5.0"]})"), "changes");
  EXPECT_EQ(refused_field("change", start + R"("remove": ["5.0"]})"), "remove");
  EXPECT_EQ(refused_field("change", start + R"("untouched": true, "token": "é"})"), "token");
  EXPECT_EQ(refused_field("change", start + R"("untouched": true, "against": "é"})"), "against");
  EXPECT_EQ(refused_field("change", start + R"("untouched": true, "from_text": "é"})"), "from_text");
  EXPECT_EQ(refused_field("change", start + R"("untouched": true, "remove": ["1.0"]})"), "untouched");
  EXPECT_EQ(refused_field("change", start + R"("changes": ["remove 1.0; twist 3"]})"), "changes");
  EXPECT_EQ(refused_field("change", start + R"("changes": []})"),
            "remove, pattern, cut, patch, set, changes, freeze_norms, sweep, untouched");
  EXPECT_EQ(refused_field("change", R"({"model": "induction"})"), "model");
}

}  // namespace
}  // namespace qkv
