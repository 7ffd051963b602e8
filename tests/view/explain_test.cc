// The question `explain`, in pictures and in numbers.
#include "qkv/view/explain.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "ask.h"

namespace qkv::explain_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kSentence =
    R"({"text": "The <cat> & dog sat", "causal": true, "block": "pre-norm", "query": "sat", "numbers": true})";

ExplainOptions options_of_sentence() {
  ExplainOptions options;
  options.text = "The <cat> & dog sat";
  options.mask = causal();
  options.query = "sat";
  options.surroundings = Surroundings::pre_norm_block;
  return options;
}

const Json& part_named(const Json& reply, const std::string& id) {
  for (const Json& part : reply["parts"]) {
    if (part["id"] == id) return part;
  }
  ADD_FAILURE() << "no part " << id;
  return reply;
}

TEST(ExplainQuestion, HoldsEveryStepAndEveryTensorInNumbers) {
  const Explanation explanation = explain(options_of_sentence());
  const Json json = Json::parse(reply_as_json(explained(explanation, Explained::in_numbers)));
  std::set<std::string> ids;
  for (const Json& part : json["parts"]) {
    ids.insert(part["id"]);
    if (part["kind"] != "step") continue;
    EXPECT_FALSE(part["formulas"].empty()) << part["id"];
    EXPECT_THAT(part["shape"].get<std::string>(), Not(testing::IsEmpty())) << part["id"];
  }
  for (const char* id : {"tokens", "ids",    "embeddings", "positions", "x",          "queries", "keys",
                         "values", "scores", "scaled",     "masked",    "softmax",    "sum",     "heads",
                         "concat", "output", "norm-1",     "gelu",      "residual-2", "query",   "variance"}) {
    EXPECT_TRUE(ids.contains(id)) << id;
  }
  EXPECT_EQ(json["tensors"]["weights"]["shape"], (std::vector<int>{2, 5, 5}));
  EXPECT_EQ(json["tensors"]["weights"]["values"], Json(explanation.tensor("weights").to_vector()));
  EXPECT_TRUE(json["tensors"]["masked"]["values"][1].is_null());  // -inf
  EXPECT_EQ(part_named(json, "masked")["maps"][0]["hidden"]["values"][1], 1);
  const Json& word = part_named(json, "tokens")["tables"][0]["rows"][1];
  EXPECT_EQ(word[0]["number"], 1);  // the position
  EXPECT_EQ(word[1]["text"], "<cat>");
}

TEST(ExplainQuestion, HasPicturesOrTheNumbersBehindThem) {
  const auto charts = [](const Json& reply) {
    std::vector<Json> all;
    for (const Json& part : reply["parts"]) {
      all.insert(all.end(), part["pictures"].begin(), part["pictures"].end());
    }
    return all;
  };
  const std::string plain = R"({"text": "The cat sat"})";
  const std::vector<Json> drawn = charts(ask("explain", plain).json);
  const Answer numbers = ask("explain", R"({"text": "The cat sat", "numbers": true})");
  const std::vector<Json> numbered = charts(numbers.json);
  ASSERT_EQ(drawn.size(), numbered.size());
  ASSERT_FALSE(drawn.empty());
  bool has_lines = false;
  for (std::size_t n = 0; n < drawn.size(); ++n) {
    EXPECT_THAT(drawn[n]["svg"].get<std::string>(), HasSubstr("<svg"));
    EXPECT_TRUE(drawn[n]["series"].empty());
    EXPECT_EQ(numbered[n]["svg"], "");
    EXPECT_EQ(numbered[n]["text"], drawn[n]["text"]);
    for (const Json& line : numbered[n]["series"]) {
      has_lines = true;
      EXPECT_EQ(line["x"].size(), line["y"].size());
      EXPECT_FALSE(line["x"].empty());
    }
  }
  EXPECT_TRUE(has_lines);
  EXPECT_TRUE(ask("explain", plain).json["tensors"].empty());
  EXPECT_EQ(numbers.numbers(numbers.json["tensors"]["weights"]).size(), 2U * 3 * 3);
}

TEST(ExplainQuestion, SaysOverTheWireWhatTheCommandPrints) {
  const Answer answer = ask("explain", kSentence);
  const Json printed = Json::parse(reply_as_json(explained(explain(options_of_sentence()), Explained::in_numbers)));
  EXPECT_EQ(answer.json["settings"], printed["settings"]);
  EXPECT_EQ(Json(answer.numbers(answer.json["tensors"]["weights"])), printed["tensors"]["weights"]["values"]);
}

TEST(ExplainQuestion, HoldsEveryWeightOfALongText) {
  ExplainOptions options;
  options.whys = false;
  for (int i = 0; i < 300; ++i) options.text += std::to_string(i) + " ";
  const Explanation explanation = explain(options);
  const ExplainReply reply = explained(explanation, Explained::in_numbers);
  const Json json = Json::parse(reply_as_json(reply));
  const Json& values = json["tensors"]["weights"]["values"];
  ASSERT_EQ(values.size(), 2U * 300 * 300);
  EXPECT_EQ(values[300 * 300 + 299 * 300 + 7].get<double>(), explanation.tensor("weights").at({1, 299, 7}));
  const Json& map = part_named(json, "softmax")["maps"][0];
  EXPECT_LT(map["values"]["shape"][0], 300);  // means of blocks
  EXPECT_EQ(map["whole"]["shape"], (Json{300, 300}));
}

TEST(ExplainQuestion, GivesAnImageInNumbers) {
  const Answer answer = ask("explain", R"({"model": "shapes", "example": 0, "numbers": true})");
  std::int64_t pixels = 0;
  std::int64_t weights = 0;
  for (const Json& part : answer.json["parts"]) {
    for (const Json& picture : part["pictures"]) {
      if (!picture["pixels"].is_null()) ++pixels;
      if (!picture["weights"].is_null()) ++weights;
      EXPECT_TRUE(picture["pixels"].is_null() || picture["weights"].is_null());
    }
  }
  EXPECT_GT(pixels, 0);
  EXPECT_GT(weights, 0);
}

}  // namespace
}  // namespace qkv::explain_test
