// What the layers of a model of the box would say, as JSON.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "qkv/api/lens.h"
#include "qkv/train/trained_model.h"

namespace qkv::lens_figures_test {
namespace {

using Json = nlohmann::json;

Json figures_of(const char* model, const TextQuestion& question) {
  const TrainedModel trained = TrainedModel::read(trained_model_path(model));
  return Json::parse(reply_as_json(lens_figures(lens_report(trained, question), model)));
}

TEST(LensFigures, HaveTheLensAndTheParts) {
  const Json json = figures_of("induction", {.text = "abcxyzb", .against = "y"});
  EXPECT_EQ(json["answer"], "c");
  ASSERT_EQ(json["layers"].size(), 3U);
  EXPECT_EQ(json["layers"][0]["layer"], "input");
  EXPECT_EQ(json["layers"][2]["said"].size(), 7U);
  EXPECT_EQ(json["parts"]["against"], "y");
  EXPECT_EQ(json["parts"]["keys"][1][0].size(), 7U);
  EXPECT_FALSE(json["parts"].contains("cross_keys"));
}

TEST(LensFigures, HaveWhatIsReadAcross) {
  const Json parts = figures_of("reverse", {.example = 0})["parts"];
  EXPECT_EQ(parts["cross_keys"][0][0].size(), parts["cross_key_tokens"].size());
  EXPECT_FALSE(parts.contains("against"));
  EXPECT_TRUE(parts["layers"][0].contains("cross"));
}

}  // namespace
}  // namespace qkv::lens_figures_test
