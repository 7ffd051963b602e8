// All heads of a model, one whole, and one pair.
#include "qkv/api/heads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ask.h"

namespace qkv {
namespace {

const std::string kInduction = R"({"model": "induction", "text": "abcxyzab")";

TEST(HeadsQuestion, ShowsEveryHeadWithWhatItDoes) {
  const Answer answer = ask("heads", kInduction + "}");
  ASSERT_EQ(answer.json["sites"].size(), 1U);
  const Json& site = answer.json["sites"][0];
  EXPECT_EQ(site["queries"], Json({"a", "b", "c", "x", "y", "z", "a", "b"}));
  EXPECT_EQ(site["maps"]["shape"], Json({2, 1, 8, 8}));
  ASSERT_EQ(site["classes"].size(), 2U);
  EXPECT_EQ(site["classes"][0]["word"], "previous");
  EXPECT_EQ(site["classes"][1]["word"], "induction");
  EXPECT_EQ(answer.json["asked"], "b");
  EXPECT_EQ(answer.json["asked_at"], 7);
  EXPECT_EQ(answer.json["says"][0]["token"], "c");
  EXPECT_GT(answer.json["says"][0]["share"].get<double>(), 0.9);
}

TEST(HeadsQuestion, TakesTheLargestWeightOfEachCell) {
  std::string text;
  for (int n = 0; n < 100; ++n) text += "the cat sat on the mat and the dog ";
  const std::string request = R"({"model": "gpt", "text": ")" + text.substr(0, 700) + "\"";
  const Answer heads = ask("heads", request + "}");
  const Answer head = ask("head", request + R"(, "layer": 1, "head": 2})");
  const auto& shape = heads.json["sites"][0]["maps"]["shape"];
  ASSERT_EQ(shape[2], 64);
  const auto maps = heads.numbers<float>(heads.json["sites"][0]["maps"]);
  const auto weights = head.numbers<float>(head.json["weights"]);
  const auto T = static_cast<std::int64_t>(head.json["queries"].size());
  ASSERT_GT(T, 64);
  std::vector<float> expected(64 * 64, 0.0F);
  for (std::int64_t r = 0; r < 64; ++r) {
    for (std::int64_t c = 0; c < 64; ++c) {
      for (std::int64_t i = r * T / 64; i < (r + 1) * T / 64; ++i) {
        for (std::int64_t j = c * T / 64; j < (c + 1) * T / 64; ++j) {
          float& cell = expected[static_cast<std::size_t>(r * 64 + c)];
          cell = std::max(cell, weights[static_cast<std::size_t>(i * T + j)]);
        }
      }
    }
  }
  const auto per_head = static_cast<std::ptrdiff_t>(64 * 64);
  const auto heads_count = shape[1].get<std::ptrdiff_t>();
  const auto from = maps.begin() + (heads_count + 2) * per_head;
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), from));
}

// docs/semantics.md: the weight of a pair is exp(score - lse).
TEST(HeadPartsQuestion, HasWhatTheWeightsOfAHeadFollowFrom) {
  for (const std::string& request :
       {kInduction + R"(, "layer": 1)", std::string(R"({"model": "english", "example": 0, "head": 2)"),
        std::string(R"({"model": "translation", "example": 0, "site": "cross", "head": 1)")}) {
    const Answer head = ask("head", request + "}");
    const Answer parts = ask("head_parts", request + "}");
    for (const char* const words : {"title", "queries", "keys", "roles", "shown", "patterns"}) {
      EXPECT_EQ(parts.json[words], head.json[words]) << request;
    }
    const auto q = parts.numbers<float>(parts.json["q"]);
    const auto k = parts.numbers<float>(parts.json["k"]);
    const auto lse = parts.numbers<double>(parts.json["lse"]);
    const auto weights = head.numbers<float>(head.json["weights"]);
    const std::size_t columns = head.json["keys"].size();
    const std::size_t width = parts.json["q"]["shape"][1];
    EXPECT_EQ(parts.json["hidden"].is_null(), head.json["hidden"].is_null());
    for (std::size_t at = 0; at < weights.size(); ++at) {
      const Json& hidden = parts.json["hidden"];
      const bool is_hidden = !hidden.is_null() && parts.blocks[hidden["at"].get<std::size_t>() + at] != std::byte{0};
      const auto* const query = &q[at / columns * width];
      const double dot = std::inner_product(query, query + width, &k[at % columns * width], 0.0);
      const double weight = std::exp(dot * parts.json["scale"].get<double>() - lse[at / columns]);
      EXPECT_NEAR(is_hidden ? 0 : weight, weights[at], 1e-5) << request << " at " << at;
    }
    EXPECT_EQ(parts.json["hidden_special"], ask("head", request + R"(, "hide_special": true})").json["hidden_special"]);
  }
}

TEST(HeadsQuestion, HasTheSitesOfATranslation) {
  const Answer answer = ask("heads", R"({"model": "translation", "example": 0})");
  std::vector<std::string> sites;
  for (const Json& site : answer.json["sites"]) sites.push_back(site["site"]);
  EXPECT_EQ(sites, (std::vector<std::string>{"cross", "tokens", "source"}));
}

TEST(HeadsQuestion, HasThePictureThatAModelSees) {
  const Answer answer = ask("heads", R"({"model": "shapes", "example": 0})");
  EXPECT_EQ(answer.json["patches"], 6);
  const auto& shape = answer.json["image"]["shape"];
  EXPECT_EQ(shape[0], shape[1]);
  EXPECT_EQ(shape[2], 3);
  const auto pixels = answer.numbers<std::uint8_t>(answer.json["image"]);
  EXPECT_LT(*std::ranges::min_element(pixels), *std::ranges::max_element(pixels));
  std::vector<std::pair<bool, bool>> patches;
  for (const Json& site : answer.json["sites"]) {
    patches.emplace_back(site["asks_from_patches"].get<bool>(), site["reads_patches"].get<bool>());
  }
  EXPECT_EQ(patches, (std::vector<std::pair<bool, bool>>{{false, true}, {false, false}, {true, true}}));
  EXPECT_TRUE(ask("heads", kInduction + "}").json["image"].is_null());
}

TEST(HeadQuestion, ShowsOneHeadWhole) {
  const Answer answer = ask("head", kInduction + R"(, "layer": 1})");
  const auto weights = answer.numbers<float>(answer.json["weights"]);
  ASSERT_EQ(weights.size(), 64U);
  EXPECT_NEAR(weights[7 * 8 + 2], 0.982, 1e-3);
  const auto totals = answer.numbers(answer.json["key_totals"]);
  EXPECT_NEAR(std::accumulate(totals.begin(), totals.end(), 0.0), 8, 1e-5);
  EXPECT_EQ(answer.json["hidden"]["shape"], Json({8, 8}));
  EXPECT_NEAR(answer.numbers(answer.json["entropy"])[0], 0, 1e-9);
  EXPECT_EQ(answer.json["shown"]["word"], "induction");
}

TEST(HeadQuestion, RenormalisesWhatSpecialTokensLeave) {
  const std::string copy = R"({"model": "copy", "text": "hello", "site": "source")";
  const Answer whole = ask("head", copy + "}");
  const Answer left = ask("head", copy + R"(, "hide_special": true})");
  const auto before = whole.numbers<float>(whole.json["weights"]);
  const auto after = left.numbers<float>(left.json["weights"]);
  ASSERT_EQ(whole.json["keys"], Json({"h", "e", "l", "l", "o", "</s>"}));
  EXPECT_EQ(whole.json["hidden_special"], "");
  EXPECT_NE(left.json["hidden_special"].get<std::string>().find("</s> had"), std::string::npos);
  for (std::size_t i = 0; i < 6; ++i) {
    float sum = 0;
    for (std::size_t j = 0; j < 5; ++j) sum += before[i * 6 + j];
    for (std::size_t j = 0; j < 5; ++j) EXPECT_NEAR(after[i * 6 + j], before[i * 6 + j] / sum, 1e-6);
    EXPECT_EQ(after[i * 6 + 5], 0);
    EXPECT_NEAR(left.numbers(left.json["query_totals"])[i], 1, 1e-6);
    EXPECT_EQ(left.numbers<std::int64_t>(left.json["seen"])[i], whole.numbers<std::int64_t>(whole.json["seen"])[i] - 1);
  }
  const Answer pair = ask("pair", copy + R"(, "query": 1, "key": 2, "hide_special": true})");
  EXPECT_NEAR(pair.json["weight_left"].get<double>(), after[8], 1e-9);
  EXPECT_NEAR(pair.json["weight"].get<double>(), before[8], 1e-6);
}

TEST(HeadQuestion, SaysWhereThereIsNothingSpecial) {
  const Answer answer = ask("head", kInduction + R"(, "layer": 1, "hide_special": true})");
  EXPECT_EQ(answer.json["hidden_special"], "This text has no special tokens: nothing is left out.");
  EXPECT_EQ(answer.numbers<float>(answer.json["weights"]),
            ask("head", kInduction + R"(, "layer": 1})").numbers<float>(answer.json["weights"]));
  EXPECT_EQ(answer.numbers<std::int64_t>(answer.json["seen"]), (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(AboutQuestion, ExamplesShowWhatTheySay) {
  const Json models = ask("about", "{}").json["models"];
  for (const Json& model : models) {
    EXPECT_FALSE(model["examples"].empty()) << model["name"];
    for (const Json& example : model["examples"]) {
      Json request{{"model", model["name"]}};
      for (const char* field : {"site", "layer", "head", "query", "key"}) request[field] = example[field];
      if (example["text"] == "") {
        request["example"] = example["example"];
      } else {
        request["text"] = example["text"];
      }
      const double weight = ask("pair", request.dump()).json["weight"].get<double>();
      if (example["look"] == "") continue;
      EXPECT_GT(weight, 0.9) << request;
    }
  }
}

TEST(PairQuestion, WritesAScoreOutElementByElement) {
  const Answer answer = ask("pair", kInduction + R"(, "layer": 1, "query": 7, "key": 2})");
  const auto q = answer.numbers(answer.json["q"]);
  const auto k = answer.numbers(answer.json["k"]);
  const auto products = answer.numbers(answer.json["products"]);
  const double dot = std::inner_product(q.begin(), q.end(), k.begin(), 0.0);
  EXPECT_NEAR(std::accumulate(products.begin(), products.end(), 0.0), dot, 1e-9);
  EXPECT_NEAR(answer.json["dot"].get<double>(), dot, 1e-4);
  EXPECT_NEAR(answer.json["weight"].get<double>(), 0.982, 1e-3);
  EXPECT_DOUBLE_EQ(answer.json["uniform"].get<double>(), 1.0 / 8);
  EXPECT_TRUE(answer.json["weight_left"].is_null());
  EXPECT_TRUE(ask("pair", kInduction + R"(, "query": 0, "key": 2})").json["score"].is_null());
}

// `brackets` learnt a bias by distance, as T5 does.
TEST(PairQuestion, SaysWhatTheBiasAdds) {
  const std::string request = R"({"model": "brackets", "example": 0, "layer": 0, "head": 0, "query": 2, "key": 1})";
  const Json pair = ask("pair", request).json;
  ASSERT_FALSE(pair["bias"].is_null());
  EXPECT_NE(pair["bias"].get<double>(), 0);
  EXPECT_TRUE(pair["softcapped"].is_null());
  EXPECT_NEAR(pair["dot"].get<double>() * pair["scale"].get<double>() + pair["bias"].get<double>(),
              pair["score"].get<double>(), 1e-5);
  EXPECT_TRUE(ask("pair", kInduction + R"(, "query": 2, "key": 1})").json["bias"].is_null());
}

TEST(HeadsQuestion, RefusesWhatHasNoMeaning) {
  try {
    ask("heads", R"({"model": "inductoin", "text": "abc"})");
    FAIL();
  } catch (const Error& error) {
    const Json told = Json::parse(error_as_json(error));
    EXPECT_EQ(told["field"], "model");
    EXPECT_TRUE(std::string(told["message"]).starts_with("no model \"inductoin\" in the box"));
  }
  EXPECT_EQ(refused_field("heads", R"({"model": "induction"})"), "model");
  EXPECT_EQ(refused_field("heads", R"({"text": "abc"})"), "model");
  EXPECT_EQ(refused_field("heads", R"({"model": "induction", "text": "abc", "example": 1})"), "example");
  EXPECT_EQ(refused_field("heads", R"({"model": "induction", "text": "ABC"})"), "text");
  EXPECT_EQ(refused_field("head", kInduction + R"(, "layer": 2})"), "layer");
  EXPECT_EQ(refused_field("head", kInduction + R"(, "head": 1})"), "head");
  EXPECT_EQ(refused_field("head", kInduction + R"(, "site": "cross"})"), "site");
  EXPECT_EQ(refused_field("pair", kInduction + R"(, "query": 8})"), "query");
}

}  // namespace
}  // namespace qkv
