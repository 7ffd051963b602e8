// What came of a training run, as data.
#include "qkv/api/train.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace qkv::train_test {
namespace {

using Json = nlohmann::json;

RelationScores scores_of(std::vector<PatternScore> heads) {
  return {.relation = "previous", .site = AttentionSite::tokens, .layers = {std::move(heads)}};
}

TrainReport report() {
  TrainReport report{.settings = recipe_for("previous"), .model = {{"heads", "2"}, {"kind", "decoder"}}};
  report.settings.batch = 4;
  report.settings.accumulation = 3;
  report.steps = 6;
  report.accuracy = {.right = 3, .asked = 4};
  report.patterns = {scores_of({{.weight_sum = 1, .hits = 1, .rows = 4}, {.weight_sum = 3, .hits = 4, .rows = 4}}),
                     scores_of({PatternScore{}})};
  return report;
}

TEST(TrainReply, SaysWhatCameOfARun) {
  const Json json = Json::parse(reply_as_json(train_reply(report())));
  EXPECT_EQ(json["task"], "previous");
  EXPECT_EQ(json["model"], (Json{{"heads", "2"}, {"kind", "decoder"}}));
  EXPECT_EQ(json["batch"], 12);
  EXPECT_EQ(json["answers"], 4);
  EXPECT_EQ(json["accuracy"], 0.75);
  EXPECT_TRUE(json["reached_at"].is_null());
  EXPECT_TRUE(json["goal"].is_null());
  const Json& pattern = json["patterns"][0];
  EXPECT_EQ(pattern["relation"], "previous");
  EXPECT_EQ(pattern["site"], "tokens");
  EXPECT_EQ(pattern["layers"], Json::parse(R"([[{"weight": 0.25, "hit": 0.25}, {"weight": 0.75, "hit": 1.0}]])"));
  EXPECT_EQ(pattern["best"], Json::parse(R"({"layer": 0, "head": 1, "weight": 0.75, "hit": 1.0})"));
}

TEST(TrainReply, SaysWhenTheGoalWasMet) {
  TrainReport met = report();
  met.reached = LoggedStep{.step = 4, .seconds = 1.5};
  EXPECT_EQ(Json::parse(reply_as_json(train_reply(met)))["reached_at"], (Json{{"step", 4}, {"seconds", 1.5}}));
}

TEST(TrainReply, SaysNothingOfAPatternWithoutRows) {
  const Json json = Json::parse(reply_as_json(train_reply(report())));
  EXPECT_EQ(json["patterns"][1]["layers"], Json::parse(R"([[{"weight": null, "hit": null}]])"));
  EXPECT_TRUE(json["patterns"][1]["best"].is_null());
}

TEST(LossChart, IsLogarithmicWhereTheLossesSpanAFactorOfTen) {
  const Chart chart = loss_chart({{.step = 1, .loss = 3, .held_out_loss = 2.5}, {.step = 50, .loss = 0.2}}, "copy");
  EXPECT_EQ(chart.title, "copy");
  ASSERT_EQ(chart.series.size(), 2);
  EXPECT_THAT(chart.series[0].y, testing::ElementsAre(3, 0.2));
  EXPECT_THAT(chart.series[1].x, testing::ElementsAre(1));
  EXPECT_EQ(chart.y.scale, AxisScale::logarithmic);
  EXPECT_DOUBLE_EQ(chart.y.low.value(), 0.1);
  EXPECT_DOUBLE_EQ(chart.y.high.value(), 10);
}

TEST(LossChart, IsLinearOtherwise) {
  const Chart chart = loss_chart({{.step = 1, .loss = 3}, {.step = 2, .loss = 2}}, "copy");
  EXPECT_EQ(chart.series.size(), 1);
  EXPECT_EQ(chart.y.scale, AxisScale::linear);
  EXPECT_EQ(loss_chart({}, "none yet").y.scale, AxisScale::linear);
}

}  // namespace
}  // namespace qkv::train_test
