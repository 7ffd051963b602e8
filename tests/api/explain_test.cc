// The question `explain`, as a page shows it and in numbers.
#include "qkv/api/explain.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "ask.h"
#include "core/error_message.h"

namespace qkv::explain_test {
namespace {

using testing::Not;

constexpr const char* kSentence =
    R"({"text": "The <cat> & dog sat", "causal": true, "block": "pre-norm", "query": "sat", "all": "full"})";

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
  return reply;  // NOLINT(bugprone-return-const-ref-from-parameter): replies have names
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

std::vector<Json> pictures_of(const Json& reply) {
  std::vector<Json> all;
  for (const Json& part : reply["parts"]) {
    all.insert(all.end(), part["pictures"].begin(), part["pictures"].end());
  }
  return all;
}

TEST(ExplainQuestion, HasTheLinesOfChartsAndAllTensorsOnlyInNumbers) {
  const Json shown = ask("explain", R"({"text": "The cat sat", "numbers": false})").json;
  const Answer numbers = ask("explain", R"({"text": "The cat sat"})");
  EXPECT_EQ(pictures_of(shown), pictures_of(numbers.json));
  bool has_lines = false;
  for (const Json& picture : pictures_of(shown)) {
    EXPECT_FALSE(picture["text"].get<std::string>().empty());
    for (const Json& line : picture["series"]) {
      has_lines = true;
      EXPECT_TRUE(picture["logarithmic"].get<bool>());
      EXPECT_EQ(line["x"].size(), line["y"].size());
      EXPECT_FALSE(line["x"].empty());
    }
  }
  EXPECT_TRUE(has_lines);
  EXPECT_TRUE(shown["tensors"].empty());
  EXPECT_EQ(numbers.numbers(numbers.json["tensors"]["weights"]).size(), 2U * 3 * 3);
}

TEST(ExplainQuestion, SaysWhatADiagramIsDrawnFrom) {
  Section section;
  section.diagrams.push_back({"flow",
                              {.title = "Flow",
                               .text = "q to k",
                               .width = 80,
                               .height = 40,
                               .strokes = {{{{1, 2}, {3, 4}}, Ink::query, Stroke::Kind::arrow}},
                               .boxes = {{{5, 6}, 7, 8, "softmax", Ink::soft, Box::Fill::faint}},
                               .captions = {{{9, 10}, "q", Ink::value, Caption::Align::right}}}});
  Explanation explanation;
  explanation.steps = {section};
  const Json json = Json::parse(reply_as_json(explained(explanation, Explained::as_shown)));
  const Json picture = pictures_of(json).at(0);
  EXPECT_EQ(picture["title"], "Flow");
  EXPECT_EQ(picture["text"], "q to k");
  EXPECT_EQ(picture["diagram"], Json::parse(R"({"width": 80, "height": 40,
    "strokes": [{"kind": "arrow", "ink": "query", "x": [1, 3], "y": [2, 4]}],
    "boxes": [{"x": 5, "y": 6, "width": 7, "height": 8, "text": "softmax", "ink": "soft", "fill": "faint"}],
    "captions": [{"x": 9, "y": 10, "text": "q", "ink": "value", "align": "right"}]})"));
}

// A page writes a number with the decimals of its map, and colours it by its share of the scale.
TEST(ExplainQuestion, KeepsTheDigitsThatAPageShows) {
  const std::vector<double> numbers = {0, 1e-9, -4.9e-4, 5.1e-4, 0.0625, 0.1234567, -0.9995, 0.9994999, 1, 1234.5678};
  Section section;
  NamedHeatmap named{.id = "map", .heatmap = {}};
  named.heatmap.values = Tensor(numbers, {2, 5});
  named.heatmap.decimals = 3;
  named.heatmap.low = 0;
  named.heatmap.high = 1;
  section.heatmaps = {named};
  named.heatmap.high = 0.001;  // colours finer than the digits
  section.heatmaps.push_back(named);
  section.is_folded = true;
  Explanation explanation;
  explanation.steps = {section};
  const ExplainReply reply = explained(explanation, Explained::as_shown);
  const auto shown = [](double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3f", value);
    return std::string(text.data());
  };
  const std::vector<double> values = reply.parts.at(0).maps.at(0).values.to_vector();
  const std::vector<double> fine = reply.parts.at(0).maps.at(1).values.to_vector();
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    EXPECT_EQ(shown(values[n]), shown(numbers[n]));
    EXPECT_EQ(values[n] == 0, numbers[n] == 0);
    EXPECT_NEAR(fine[n], numbers[n], std::max(0.001 / 1024, std::abs(numbers[n]) * 1e-7));
  }
  EXPECT_EQ(values[4], 0.0625);
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

TEST(ExplainQuestion, SendsAnImageOnceForAllWeightsOverIt) {
  const Answer answer = ask("explain", R"({"model": "shapes", "example": 0})");
  const Json& images = answer.json["images"];
  ASSERT_FALSE(images.empty());
  std::size_t plain = 0;
  std::size_t weighted = 0;
  for (const Json& picture : pictures_of(answer.json)) {
    if (picture["image"].is_null()) continue;
    ASSERT_LT(picture["image"].get<std::size_t>(), images.size());
    ++(picture["weights"].is_null() ? plain : weighted);
  }
  EXPECT_GT(plain, 0U);
  EXPECT_GT(weighted, images.size());
  EXPECT_EQ(images[0]["dtype"], "u8");
  EXPECT_EQ(images[0]["shape"][2], 3);
}

TEST(ExplainQuestion, HasEveryStepOfAModelAndSaysSo) {
  EXPECT_EQ(
      error_message<InvalidArgument>([] { ask("explain", R"({"model": "induction", "text": "ab", "all": "full"})"); }),
      "request: all: expected it without `model` (every step of a model is told), got both");
  const auto all = std::ranges::find(explain_fields().infos(), std::string("all"), &FieldInfo::name);
  EXPECT_THAT(company_of(explain_fields().infos(), *all, [](std::string_view name) { return std::string(name); }),
              testing::HasSubstr("not beside model: every step of a model is told"));
}

}  // namespace
}  // namespace qkv::explain_test
