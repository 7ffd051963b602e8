// What the measurements of `qkv bench` look like as JSON.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "qkv/api/study.h"

namespace qkv::study_figures_test {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> names_in(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

TEST(VariantsFigures, LeaveOutWhatWasSkipped) {
  std::vector<VariantCost> costs(2);
  costs[0].tokens = 64;
  costs[0].variant = "linear elu+1";
  costs[0].seconds = 0.5;
  costs[0].bytes = 64;
  costs[0].tiles = 0.25;
  costs[1].variant = "standard";
  costs[1].skipped = "its matrix is too large";
  const Json json = Json::parse(reply_as_json(variants_figures({.causal = true, .masks = {}}, costs)));
  EXPECT_EQ(json["causal"], true);
  EXPECT_EQ(json["data"], "random");
  EXPECT_EQ(json["sampled_rows"], kSampledRows);
  const Json& linear = json["results"][0];
  EXPECT_THAT(names_in(linear), testing::ElementsAre("tokens", "variant", "seconds", "runs", "bytes", "rms_error",
                                                     "max_error", "pairs", "tiles"));
  EXPECT_TRUE(linear["pairs"].is_null());
  EXPECT_EQ(linear["tiles"], 0.25);
  EXPECT_THAT(names_in(json["results"][1]), testing::ElementsAre("tokens", "variant", "skipped"));
}

TEST(PositionsFigures, SayWhichTrainingFailed) {
  const PositionSetup setup{.kinds = {Positions::alibi}, .train_length = 6, .test_lengths = {6, 12}};
  std::vector<PositionResult> results(2);
  results[0].kind = Positions::alibi;
  results[0].shares = {1, 0.5};
  results[1].failed = "it diverged";
  const Json json = Json::parse(reply_as_json(positions_figures(setup, results)));
  EXPECT_EQ(json["unit"], "letters");
  EXPECT_EQ(json["test_lengths"], (Json{6, 12}));
  EXPECT_EQ(json["results"][0]["addressing"], "relative");
  EXPECT_EQ(json["results"][0]["accuracy"], (Json{1.0, 0.5}));
  EXPECT_THAT(names_in(json["results"][1]), testing::ElementsAre("positions", "addressing", "parameters", "failed"));
}

TEST(BottleneckFigures, HaveBothModels) {
  const BottleneckSetup setup;
  const BottleneckModels models = make_bottleneck_models(setup);
  const BottleneckScore score{.length = 3, .letters = 0.5, .texts = 0.25};
  const Json json =
      Json::parse(reply_as_json(bottleneck_figures(models, setup, {{.vector = score, .attention = score}})));
  EXPECT_EQ(json["parameters"]["vector"], parameter_count(models.vector.parameters()));
  EXPECT_EQ(json["lengths"][0]["length"], 3);
  EXPECT_EQ(json["lengths"][0]["attention"], (Json{{"letters", 0.5}, {"texts", 0.25}}));
}

}  // namespace
}  // namespace qkv::study_figures_test
