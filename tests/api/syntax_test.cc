// Which heads follow the grammar, as data.
#include "qkv/api/syntax.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace qkv::syntax_test {
namespace {

using Json = nlohmann::json;

TEST(SyntaxReply, NamesTheBestHeadByLayer) {
  const SyntaxAnalysis analysis{
      .sentences = 2,
      .words = 9,
      .layers = 2,
      .heads = 3,
      .relations = {
          {.label = "det", .pairs = 4, .right = {0, 1, 0, 0, 3, 2}, .best = 4, .offset = 1, .offset_right = 2},
          {.label = "det", .direction = TreeDirection::to_dependent, .pairs = 4, .right = {0, 0, 0, 0, 0, 0}}}};
  const Json json = Json::parse(reply_as_json(syntax_reply(analysis, "english")));
  EXPECT_EQ(json["model"], "english");
  EXPECT_EQ(json["words"], 9);
  const Json& found = json["relations"][0];
  EXPECT_EQ(found["direction"], "to head");
  EXPECT_EQ(found["best"], (Json{{"layer", 1}, {"head", 1}}));
  EXPECT_EQ(found["accuracies"], (Json{0.0, 0.25, 0.0, 0.0, 0.75, 0.5}));
  EXPECT_EQ(found["offset"], 1);
  EXPECT_EQ(found["offset_accuracy"], 0.5);
  EXPECT_TRUE(json["relations"][1]["best"].is_null());
  EXPECT_TRUE(json["relations"][1]["offset"].is_null());
}

}  // namespace
}  // namespace qkv::syntax_test
