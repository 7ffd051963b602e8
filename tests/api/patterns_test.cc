// The page Patterns: masks as maps, positions, costs.
#include "qkv/api/patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ask.h"
#include "qkv/api/cost.h"
#include "qkv/api/mask.h"
#include "qkv/bias.h"
#include "qkv/nn/position.h"

namespace qkv {
namespace {

TEST(MaskQuestion, DrawsPairsWhereTheyAreFew) {
  const Answer answer = ask("mask", R"({"mask": "causal", "tq": 3, "tk": 2, "map": true})");
  EXPECT_EQ(answer.numbers<float>(answer.json["map"]["share"]), (std::vector<float>{0, 0, 1, 0, 1, 1}));
  EXPECT_EQ(answer.json["map"]["cell_queries"], 1);
  EXPECT_EQ(answer.json["map"]["blind_rows"], 1);
  EXPECT_EQ(answer.json["map"]["first_blind"], Json::array({0}));
}

TEST(MaskQuestion, HasTheFiguresOfTheCommand) {
  MaskRequest request;
  request.mask = "causal & window(20)";
  request.tq = 300;
  request.tk = 200;
  request.heads = 3;
  const Json figures = Json::parse(reply_as_json(mask_figures(mask(request), request)));
  EXPECT_EQ(ask("mask", R"j({"mask": "causal & window(20)", "tq": 300, "tk": 200, "heads": 3})j").json, figures);
  EXPECT_EQ(figures["pairs_total"], 3 * 300 * 200);
}

TEST(MaskQuestion, SharesOfCellsAddUpToWhatIsKept) {
  const Answer answer =
      ask("mask", R"j({"mask": "causal & window(512)", "tq": 8192, "tk": 8192, "map": true, "cells": 32})j");
  const auto share = answer.numbers<float>(answer.json["map"]["share"]);
  ASSERT_EQ(share.size(), 1024U);
  const double mean = std::accumulate(share.begin(), share.end(), 0.0) / 1024;  // all cells are as large
  EXPECT_NEAR(mean, answer.json["coverage"].get<double>(), 1e-6);
  EXPECT_EQ(answer.json["map"]["cell_queries"], 256);
  EXPECT_EQ(answer.json["map"]["blind_rows"], 0);
}

TEST(MaskQuestion, FindsRowsThatSeeNothing) {
  const Answer answer = ask("mask", R"j({"mask": "causal & !window(4)", "tq": 512, "tk": 640, "map": true})j");
  std::int64_t blind = 0;
  const Mask mask = parse_mask("causal & !window(4)");
  const MaskShape shape{.B = 1, .H = 1, .Tq = 512, .Tk = 640};
  for (std::int64_t i = 0; i < shape.Tq; ++i) {
    bool sees = false;
    for (std::int64_t j = 0; j < shape.Tk && !sees; ++j) sees = mask.allows({.b = 0, .h = 0, .i = i, .j = j}, shape);
    blind += sees ? 0 : 1;
  }
  EXPECT_EQ(answer.json["map"]["blind_rows"].get<std::int64_t>(), blind);
  EXPECT_THROW(ask("mask", R"j({"mask": "causal & windw(512)"})j"), MaskSyntaxError);
  EXPECT_EQ(refused_field("mask", R"({"mask": "all", "map": true, "tq": 1000000})"), "tq");
  EXPECT_EQ(refused_field("mask", R"({"mask": "all", "map": true, "tk": 0})"), "tk");
  EXPECT_EQ(refused_field("mask", R"({"mask": "all", "tk": 1000000})"), "tk");
  EXPECT_EQ(refused_field("mask", R"({"mask": "all", "head": 1})"), "head");
  EXPECT_EQ(refused_field("mask", R"({"mask": "all", "batch": 2, "batch_entry": 2})"), "batch_entry");
  EXPECT_EQ(refused_field("mask", R"({"map": true})"), "map");
}

TEST(MaskQuestion, BoundsTheLengthForReadersAlone) {
  Studio owner({.text = {}, .asker = Asker::owner});
  const char* const request = R"({"mask": "all", "tq": 1000000, "tk": 4, "tile": "4096"})";
  EXPECT_EQ(Json::parse(owner.ask("mask", request).json)["pairs_kept"], 4'000'000);
  EXPECT_EQ(refused_field("mask", request), "tq");
}

TEST(MaskQuestion, ProposesAnExampleOfEachWordUnlessItIsLong) {
  const auto dense = [](const char* request) { return ask("mask", request).json["words"].back(); };
  EXPECT_EQ(dense(R"({"mask": "all", "tq": 2, "tk": 3})")["example"], "dense([1, 1, 0])");
  EXPECT_EQ(dense(R"({"mask": "all", "tq": 4096, "tk": 4096})")["word"], "dense");
  EXPECT_EQ(dense(R"({"mask": "all", "tq": 4096, "tk": 4096})")["example"], "");
}

TEST(MaskQuestion, NamesTheColumnOfAnError) {
  try {
    ask("mask", R"j({"mask": "causal & windw(512)"})j");
    ADD_FAILURE();
  } catch (const MaskSyntaxError& error) {
    EXPECT_EQ(Json::parse(error_as_json(error))["column"], 10);
    const Json said = Json::parse(error_as_json(error));
    EXPECT_EQ(said["field"], "mask");
    EXPECT_TRUE(said["message"].get<std::string>().starts_with("column 10: expected")) << "the field names it already";
  }
}

TEST(ErrorAsJson, HasOneFieldAndAllThatItIsAbout) {
  const auto told = [](const char* question, const char* request) {
    try {
      ask(question, request);
    } catch (const Error& error) {
      return Json::parse(error_as_json(error));
    }
    return Json();
  };
  EXPECT_EQ(told("generate", R"({"model": "gpt"})"),
            Json::parse(R"({"message": "expected one of `text`, `texts`, `chat`, `file`, `sound`, got none",
                            "field": "text", "fields": ["text", "texts", "chat", "file", "sound"], "column": null})"));
  EXPECT_EQ(told("generate", R"({"model": "gpt", "text": "a", "file": "x"})")["fields"], Json({"text", "file"}));
  const Json one = told("number", "{}");
  EXPECT_EQ(one["field"], "of");
  EXPECT_EQ(one["fields"], Json::array({"of"}));
  EXPECT_EQ(one["message"], "expected a value, got none");
}

TEST(PositionsQuestion, ShowsEachKind) {
  const Answer waves = ask("positions", R"({"tokens": 16, "d": 8})");
  const auto table = waves.numbers(waves.json["table"]);
  EXPECT_EQ(table, sinusoidal(16, 8).to_vector());
  const auto alike = waves.numbers(waves.json["by_distance"]);
  for (std::size_t distance = 0; distance < 16; ++distance) {
    double product = 0;
    for (std::size_t n = 0; n < 8; ++n) product += table[n] * table[distance * 8 + n];
    EXPECT_NEAR(alike[distance], product / 4, 1e-12);
  }
  const Answer turns = ask("positions", R"({"kind": "rotary", "tokens": 4, "d": 4})");
  EXPECT_NEAR(turns.numbers(turns.json["table"])[2], std::cos(1.0), 1e-12);
  const Answer slopes = ask("positions", R"({"kind": "alibi", "tokens": 4, "head": 1})");
  EXPECT_EQ(slopes.json["slopes"][1], alibi_slopes(8)[1]);
  EXPECT_EQ(slopes.numbers(slopes.json["table"])[3], -3 * alibi_slopes(8)[1]);
  const Answer buckets = ask("positions", R"({"kind": "t5", "tokens": 200})");
  EXPECT_EQ(buckets.numbers(buckets.json["by_distance"])[150], static_cast<double>(t5_bucket(-150, {})));
}

TEST(PositionsQuestion, RefusesWhatHasNoMeaning) {
  EXPECT_EQ(refused_field("positions", R"({"kind": "alibi", "head": 8})"), "head");
  EXPECT_EQ(refused_field("positions", R"({"kind": "learned"})"), "kind");
  EXPECT_EQ(refused_field("positions", R"({"d": 7})"), "d");
}

TEST(CostQuestion, HasTheFiguresOfTheCommand) {
  CostRequest request;
  request.preset = "llama-3-8b";
  request.tokens = 4096;
  const Json figures = Json::parse(reply_as_json(answer(request)));
  EXPECT_EQ(ask("cost", R"({"preset": "llama-3-8b", "tokens": 4096})").json, figures);
  EXPECT_GT(figures["groups"].size(), 1U);
}

TEST(CostQuestion, HasGptThreesMatrix) {
  const Answer answer = ask("cost", R"({"preset": "gpt3"})");
  bool found = false;
  for (const Json& group : answer.json["groups"]) {
    for (const Json& item : group["items"]) {
      found = found || item["amount"].get<std::string>().find("144") != std::string::npos;
    }
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(answer.json["model"]["tokens"], 2048);
  EXPECT_EQ(answer.json["model"]["d_ff"], 4 * 12288);
  EXPECT_FALSE(answer.json["lines"].empty());
  EXPECT_EQ(refused_field("cost", R"({"preset": "gpt5"})"), "preset");
  EXPECT_EQ(refused_field("cost", "{}"), "preset");
  EXPECT_EQ(refused_field("cost", R"({"preset": "gpt3", "from": 8, "to": 8})"), "to");
}

}  // namespace
}  // namespace qkv
