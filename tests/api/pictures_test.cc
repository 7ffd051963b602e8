// What attention is made of, and the bottleneck, as the studio is told.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "ask.h"

namespace qkv {
namespace {

TEST(PicturesQuestion, SaysADotProductTwice) {
  const Answer answer = ask("pictures", R"({"q": "3,4", "k": "4,3;-4,3", "v": "1;2", "query": 0, "key": 0})");
  const Json& dot = answer.json["dot"];
  EXPECT_EQ(dot["dot"], 24);
  EXPECT_EQ(dot["q_length"], 5);
  EXPECT_NEAR(dot["cosine"].get<double>(), 0.96, 1e-12);
  EXPECT_NEAR(dot["degrees"].get<double>(), 16.26, 0.01);
  EXPECT_EQ(answer.numbers(dot["products"]), (std::vector<double>{12, 12}));
  EXPECT_EQ(answer.numbers(dot["sums"]), (std::vector<double>{12, 24}));
  const Answer right = ask("pictures", R"({"q": "3,4", "k": "4,3;-4,3", "v": "1;2", "query": 0, "key": 1})");
  EXPECT_NEAR(right.json["dot"]["degrees"].get<double>(), 90, 1e-9);
  const Answer none = ask("pictures", R"({"q": "0,0", "k": "4,3", "v": "1", "query": 0})");
  EXPECT_TRUE(none.json["dot"]["degrees"].is_null());
}

TEST(PicturesQuestion, ProductsPileUpToTheScores) {
  const Answer answer = ask("pictures", "{}");
  const std::vector<double> sums = answer.numbers(answer.json["product"]["sums"]);
  const Answer bench = ask("bench", "{}");
  const std::vector<double> raw = bench.numbers(bench.matrix("raw")["values"]);
  for (std::size_t cell = 0; cell < raw.size(); ++cell) EXPECT_EQ(sums[2 * cell + 1], raw[cell]);
  EXPECT_TRUE(ask("pictures", R"({"model": "induction", "text": "abcxyzab", "layer": 1})").json["product"].is_null());
}

TEST(PicturesQuestion, MixesByTheWeightsOrByOtherMasses) {
  const Answer own = ask("pictures", "{}");
  const Answer bench = ask("bench", "{}");
  const std::vector<double> out = bench.row("out", 1);
  const std::vector<double> mixture = own.numbers(own.json["mix"]["mixture"]);
  for (std::size_t c = 0; c < out.size(); ++c) EXPECT_NEAR(mixture[c], out[c], 1e-15);
  const Answer other = ask("pictures", R"({"masses": "1,2,1"})");
  EXPECT_EQ(other.numbers(other.json["mix"]["shares"]), (std::vector<double>{0.25, 0.5, 0.25}));
  EXPECT_EQ(other.numbers(other.json["mix"]["mixture"]), (std::vector<double>{0.75, 1.75}));
  const char* const kOfThirteen = R"({"tokens": "a b c d e f g h i j k l m", "seed": 1, "masses": "1,2"})";
  for (const char* bad : {R"({"masses": "0,0,0"})", R"({"masses": "1,-1,1"})", R"({"masses": "1,1"})", kOfThirteen}) {
    EXPECT_EQ(refused_field("pictures", bad), "masses") << bad;
  }
}

TEST(PicturesQuestion, SplitsHeadsWithoutLosingANumber) {
  const Answer answer = ask("pictures", "{}");
  const Json& split = answer.json["split"];
  std::vector<std::int64_t> places = answer.numbers<std::int64_t>(split["places"]);
  // Head 1, token 0: the third and fourth number of the first row.
  EXPECT_EQ(places[6], 2);
  EXPECT_EQ(places[7], 3);
  std::ranges::sort(places);
  std::vector<std::int64_t> all(places.size());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(places, all);
}

TEST(PicturesQuestion, AsksTheSameKeysFromAnotherText) {
  const Answer answer = ask("pictures", R"({"other": "cat chat"})");
  const std::vector<double> self = answer.numbers(answer.json["self"]["weights"]);
  const std::vector<double> cross = answer.numbers(answer.json["cross"]["weights"]);
  ASSERT_EQ(cross.size(), 6U);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(cross[j], self[3 + j]) << "a word of the text keeps its query";
  EXPECT_TRUE(ask("pictures", R"({"model": "induction", "text": "abcab"})").json["cross"].is_null());
  for (const Json& beside :
       {Json{{"context", "le chat dort"}}, Json{{"seed", 1}}, Json{{"other", "a b c d e f g h i j k l m"}},
        Json{{"model", "induction"}, {"text", "abcab"}}}) {
    Json request = {{"other", "cat chat"}};
    request.update(beside);
    EXPECT_EQ(refused_field("pictures", request.dump()), "other") << request;
  }
}

TEST(OperationsQuestion, GivesEachInSevenLanguages) {
  const Answer answer = ask("operations", "{}");
  EXPECT_EQ(answer.json["languages"].size(), 7U);
  const Json steps = ask("bench", R"({"move": "1,0", "mask": "causal"})").json;
  std::vector<std::string> ids;
  const auto add = [&](const Json& step) {
    ids.push_back(step["id"]);
    for (const Json& inner : step["inner"]) ids.push_back(inner["id"]);
  };
  for (const Json& step : steps["steps"]) add(step);
  for (const Json& step : steps["back"]) add(step);
  for (const Json& one : answer.json["operations"]) {
    EXPECT_EQ(one["code"].size(), 7U) << one["id"];
    for (const Json& step : one["steps"]) {
      EXPECT_TRUE(step == "scaled" || std::ranges::count(ids, step.get<std::string>()) > 0) << step;
    }
  }
}

TEST(BottleneckQuestion, ShowsWhatComesBack) {
  const Answer answer = ask("bottleneck", R"({"text": "thequickbrownfox"})");
  EXPECT_EQ(answer.json["attention"]["rights"], 16);
  const std::vector<double> share = answer.numbers(answer.json["share"]);
  for (std::size_t s = 0; s < 16; ++s) {
    const auto row = share.begin() + static_cast<std::ptrdiff_t>(16 * s);
    EXPECT_NEAR(std::accumulate(row, row + 16, 0.0), 1, 1e-12);
  }
  EXPECT_EQ(answer.json["states"]["shape"][0], 16);
  EXPECT_EQ(refused_field("bottleneck", R"({"text": "A b"})"), "text");
  EXPECT_EQ(refused_field("bottleneck", Json{{"text", std::string(41, 'a')}}.dump()), "text");
}

TEST(BottleneckQuestion, MeasuresOverLengths) {
  const Answer answer = ask("bottleneck_lengths", R"({"texts": 16, "to": 24})");
  const std::vector<double> vector = answer.numbers(answer.json["vector"]);
  const std::vector<double> attention = answer.numbers(answer.json["attention"]);
  EXPECT_GT(vector[1], 0.95);
  EXPECT_LT(vector[23], 0.6);
  EXPECT_GT(attention[23], 0.95);
}

}  // namespace
}  // namespace qkv
