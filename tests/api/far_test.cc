// The page Far: tiles of every level against the whole matrix, the needle, and who waits for what.
#include "qkv/api/far.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "api/far/far_needle.h"
#include "api/far/far_pyramid.h"
#include "ask.h"
#include "files/temporary_directory.h"
#include "qkv/api/studio.h"
#include "qkv/files.h"
#include "qkv/mask.h"
#include "qkv/probe.h"

namespace qkv::far_test {
namespace {

using api_detail::FarPyramid;
using api_detail::PlantedText;
using api_detail::SharedCells;

double weight_of(Half logarithm) { return std::exp2(static_cast<double>(static_cast<float>(logarithm))); }

// Every cell of a tile, against the weights that it stands for.
void expect_tile(const Tensor& weights, const Mask& mask, const MapArea& area, std::int64_t side,
                 const SharedCells& cells, double tolerance) {
  ASSERT_FALSE(cells->is_hidden());
  const MaskShape shape{1, 1, weights.dim(0), weights.dim(1)};
  ASSERT_EQ(cells->mean.dim(0), (area.i_end - area.i_begin + side - 1) / side);
  ASSERT_EQ(cells->mean.dim(1), (area.j_end - area.j_begin + side - 1) / side);
  std::size_t place = 0;
  for (std::int64_t i = area.i_begin; i < area.i_end; i += side) {
    for (std::int64_t j = area.j_begin; j < area.j_end; j += side, ++place) {
      double sum = 0;
      double largest = 0;
      double visible = 0;
      std::int64_t pairs = 0;
      for (std::int64_t y = i; y < std::min(i + side, area.i_end); ++y) {
        for (std::int64_t x = j; x < std::min(j + side, area.j_end); ++x, ++pairs) {
          const double weight = weights.at({y, x});
          sum += weight;
          largest = std::max(largest, weight);
          visible += mask.allows({0, 0, y, x}, shape) ? 1 : 0;
        }
      }
      const auto count = static_cast<double>(pairs);
      ASSERT_NEAR(weight_of(cells->mean.values<Half>()[place]), sum / count, tolerance * sum / count);
      ASSERT_NEAR(weight_of(cells->largest.values<Half>()[place]), largest, 0.006 * largest);
      const int share = cells->visible.values<std::uint8_t>()[place];
      ASSERT_NEAR(share, 255 * visible / count, 3);
      ASSERT_EQ(share == 0, visible == 0);
      ASSERT_EQ(share == 255, visible == count);
    }
  }
}

TEST(FarPyramid, HasEveryLevelOfTheMatrix) {
  constexpr std::int64_t kTokens = 1100;  // no multiple of a tile
  const PlantedText text = api_detail::planted_text(kTokens, 3);
  const Mask mask = causal() & window(700);
  const Probe probe(text.q, text.k, {.mask = mask});
  const Tensor weights = probe.tile({0, 0, 0, kTokens, 0, kTokens});
  FarPyramid pyramid(probe, 0, mask);
  EXPECT_EQ(pyramid.base(), 0);
  EXPECT_EQ(pyramid.top(), 3);
  for (std::int64_t level = 0; level <= pyramid.top(); ++level) {
    const MapSize tiles = pyramid.tiles(level);
    const api_detail::FarPlaceOfTile last = {level, tiles.rows - 1, tiles.columns - 1};
    // log2 in f16 below 16 is off by 2^-7 of a half, and a level more adds as much again.
    const double tolerance = 0.006 * static_cast<double>(level + 1);
    expect_tile(weights, mask, pyramid.area(last), std::int64_t{1} << level, pyramid.tile(last, {}), tolerance);
  }
  EXPECT_TRUE(pyramid.tile({0, 0, 4}, {})->is_hidden());
}

TEST(FarPyramid, ProbesWhatIsFinerThanItsBase) {
  constexpr std::int64_t kTokens = 5000;
  const PlantedText text = api_detail::planted_text(kTokens, 3);
  const Probe probe(text.q, text.k, {.mask = causal()});
  FarPyramid pyramid(probe, 0, causal());
  ASSERT_EQ(pyramid.base(), 1);
  const MapArea area = pyramid.area({0, 19, 18});
  const Tensor part = probe.tile({0, 0, area.i_begin, area.i_end, area.j_begin, area.j_end});
  const SharedCells cells = pyramid.tile({0, 19, 18}, {});
  ASSERT_EQ(cells->mean.shape(), part.shape());
  for (std::size_t n = 0; n < static_cast<std::size_t>(part.size()); ++n) {
    const auto weight = static_cast<double>(part.values<float>()[n]);
    ASSERT_NEAR(weight_of(cells->mean.values<Half>()[n]), weight, 0.006 * weight);
  }
}

// A pyramid whose mask counts how often it is asked.
class CountedWalk {
 public:
  /// What one walk asks.
  std::int64_t of_one() {
    const Probe probe(text_.q, text_.k, {.mask = mask_, .threads = 1});
    FarPyramid(probe, 0, mask_).walk({});
    return asked_.exchange(0);
  }
  FarPyramid& pyramid() { return pyramid_; }
  [[nodiscard]] std::int64_t asked() const { return asked_; }

 private:
  PlantedText text_ = api_detail::planted_text(2048, 1);
  std::atomic<std::int64_t> asked_ = 0;
  Mask mask_ = causal() & predicate("counts", [this](const Place&, const MaskShape&) {
                 ++asked_;
                 return true;
               });
  Probe probe_{text_.q, text_.k, {.mask = mask_, .threads = 1}};
  FarPyramid pyramid_{probe_, 0, mask_};
};

TEST(FarPyramid, IsWalkedOnceHoweverManyAsk) {
  CountedWalk counted;
  const std::int64_t once = counted.of_one();
  FarPyramid& shared = counted.pyramid();
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) threads.emplace_back([&] { shared.walk({}); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counted.asked(), once);
}

TEST(FarPyramid, GoesOnForTheOthersWhereOneLeaves) {
  CountedWalk counted;
  const std::int64_t once = counted.of_one();
  FarPyramid& shared = counted.pyramid();
  std::atomic<bool> leads = false;
  std::atomic<bool> waits = false;
  std::thread leaves([&] {
    const ProbeWatch until_another_waits = [&](const ProbeProgress&) {
      leads = true;
      while (!waits) std::this_thread::yield();
      return Proceed::stop;
    };
    EXPECT_THROW(shared.walk(until_another_waits), Cancelled);
  });
  while (!leads) std::this_thread::yield();
  shared.walk([&](const ProbeProgress&) {
    waits = true;
    return Proceed::go_on;
  });
  leaves.join();
  EXPECT_EQ(counted.asked(), once);
}

TEST(FarPyramid, ShowsBandsAsTheTopLevelDoes) {
  const PlantedText text = api_detail::planted_text(9000, 1);  // no multiple of a band, and two levels above the base
  const Probe probe(text.q, text.k, {.mask = causal() & window(3000)});
  FarPyramid pyramid(probe, 0, causal() & window(3000));
  ASSERT_EQ(pyramid.top() - pyramid.base(), 4);
  std::vector<ProbeProgress> told;
  std::vector<Tensor> bands;
  for (std::int64_t row = pyramid.tiles(pyramid.base()).rows - 1; row >= 0; --row) {
    bands.insert(bands.begin(), pyramid
                                    .band(row,
                                          [&](const ProbeProgress& progress) {
                                            told.push_back(progress);
                                            return Proceed::go_on;
                                          })
                                    .largest);
  }
  const Tensor whole = pyramid.tile({pyramid.top(), 0, 0}, {})->largest;
  std::int64_t at = 0;
  for (const Tensor& band : bands) {
    const auto part = whole.to(DType::f64).to_vector();
    const auto own = band.to(DType::f64).to_vector();
    EXPECT_TRUE(std::equal(own.begin(), own.end(), part.begin() + at * whole.dim(1))) << "rows from " << at;
    at += band.dim(0);
  }
  EXPECT_EQ(at, whole.dim(0));
  EXPECT_TRUE(std::ranges::is_sorted(told, {}, &ProbeProgress::done)) << "progress of all bands, in any order";
  EXPECT_EQ(told.front().total, told.back().total);
}

TEST(FarPyramid, StopsAWalkAndGoesOnLater) {
  const PlantedText text = api_detail::planted_text(2048, 1);
  const Probe probe(text.q, text.k, {.mask = causal()});
  FarPyramid pyramid(probe, 0, causal());
  ProbeProgress last;
  const ProbeWatch until_half = [&](const ProbeProgress& progress) {
    last = progress;
    return 2 * progress.done > progress.total ? Proceed::stop : Proceed::go_on;
  };
  EXPECT_THROW(pyramid.walk(until_half), Cancelled);
  EXPECT_LT(last.done, last.total);
  std::int64_t first = 0;
  pyramid.walk([&](const ProbeProgress& progress) {
    if (first == 0) first = progress.done;
    return Proceed::go_on;
  });
  EXPECT_GT(first, last.total / 4) << "bands that were done are not walked again";
}

TEST(FarQuestions, ShowAProbeThatTheStudioWasOpenedWith) {
  const PlantedText text = api_detail::planted_text(2048, 1);
  const auto options = AttentionOptions{.mask = causal() & window(600)};
  Studio studio({.text = {},
                 .probe = std::make_shared<ShownProbe>(
                     ShownProbe{.title = "mine", .mask = options.mask, .probe = Probe(text.q, text.k, options)})});
  const auto told = [&](const std::string& question, const std::string& request) {
    return Json::parse(studio.ask(question, request).json);
  };
  EXPECT_EQ(told("about", "{}")["probe"], "mine");
  const Json opened = told("far_open", "{}");
  EXPECT_EQ(opened["title"], "mine, head 0");
  EXPECT_EQ(opened["keys"], 2048);
  EXPECT_EQ(opened["mask"], options.mask.to_string());
  const Json row = told("far_row", R"({"query": 1000, "at": "999,5"})");
  const Tensor weights = Probe(text.q, text.k, options).row({}, 1000);
  EXPECT_EQ(row["at"][0]["weight"], weights.at({999}));
  EXPECT_EQ(row["at"][1]["weight"], 0);
  EXPECT_EQ(row["word"], "1000");
  EXPECT_THROW(static_cast<void>(studio.ask("far_open", R"({"head": 1})")), InvalidArgument);
  const Json made_up = {{"tokens", 4096}, {"mask", ""}, {"seed", 2}};
  for (const auto& [field, value] : made_up.items()) {
    try {
      told("far_open", Json{{field, value}}.dump());
      ADD_FAILURE() << field;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(refusal_of(error).field, field);
    }
  }
}

TEST(FarQuestions, HaveOneHeadOfMadeUpTokensHoweverOftenTheyAreAsked) {
  Studio studio;
  static_cast<void>(studio.ask("far_open", R"({"tokens": 1024})"));
  EXPECT_THROW(static_cast<void>(studio.ask("far_open", R"({"tokens": 1024, "head": 1})")), InvalidArgument);
}

TEST(FarQuestions, FindTheNeedle) {
  Studio studio;
  const auto told = [&](const std::string& question, const std::string& request) {
    return Json::parse(studio.ask(question, request).json);
  };
  const Json opened = told("far_open", R"({"tokens": 4096})");
  EXPECT_EQ(opened["levels"].size(), 5U);
  EXPECT_EQ(opened["overview"]["every"], 16);
  ASSERT_EQ(opened["needles"].size(), 4U);
  for (const Json& needle : opened["needles"]) {
    const std::string request = R"({"tokens": 4096, "count": 3, "query": )" + needle["query"].dump() + ", \"at\": \"" +
                                needle["key"].dump() + "\"}";
    const Json row = told("far_row", request);
    EXPECT_EQ(row["top"][0]["key"], needle["key"]);
    EXPECT_EQ(row["top"][0]["word"], needle["word"]);
    EXPECT_EQ(row["at"][0], row["top"][0]);
    EXPECT_GT(row["top"][0]["weight"].get<double>(), 10 * row["top"][1]["weight"].get<double>());
  }
  const Json found = told("far_find", R"({"tokens": 4096, "word": "PARIS"})");
  EXPECT_EQ(found["count"], 1);
  EXPECT_EQ(found["places"][0]["key"], opened["needles"][0]["key"]);
}

TEST(FarQuestions, SayOfARowWhatTheProbeSays) {
  const PlantedText text = api_detail::planted_text(4096, 1);
  const Probe probe(text.q, text.k, {.mask = causal()});
  const TopKeys top = probe.top_keys({}, 5);
  const RowStatistics rows = probe.statistics({});
  const Answer row = ask("far_row", R"({"tokens": 4096, "query": 3125, "count": 5})");
  ASSERT_EQ(row.json["top"].size(), 5U);
  for (std::int64_t n = 0; n < 5; ++n) {
    EXPECT_EQ(row.json["top"][static_cast<std::size_t>(n)]["key"], static_cast<std::int64_t>(top.keys.at({3125, n})));
    EXPECT_EQ(row.json["top"][static_cast<std::size_t>(n)]["weight"], top.weights.at({3125, n}));
  }
  EXPECT_EQ(row.json["entropy"], rows.entropy.at({3125}));
  EXPECT_EQ(row.json["distance"], rows.distance.at({3125}));
  EXPECT_EQ(row.json["visible"], 3126);
}

TEST(FarQuestions, LookAtSomeQueriesOfATile) {
  const PlantedText text = api_detail::planted_text(4096, 1);
  const Probe probe(text.q, text.k, {.mask = causal()});
  const Answer tile = ask("far_tile", R"({"tokens": 4096, "level": 3, "row": 1, "column": 0, "every": 4})");
  EXPECT_EQ(tile.json["every"], 4);
  const std::vector<Half> largest = tile.numbers<Half>(tile.json["largest"]);
  const std::size_t row = 7;
  const std::size_t column = 5;
  double expected = 0;
  for (const std::int64_t i : {2048 + 8 * 7, 2048 + 8 * 7 + 4}) {
    const Tensor weights = probe.tile({0, 0, i, i + 1, 8 * 5, 8 * 6});
    for (const float weight : weights.values<float>()) expected = std::max(expected, static_cast<double>(weight));
  }
  EXPECT_NEAR(weight_of(largest[row * 256 + column]), expected, 0.006 * expected);
  EXPECT_EQ(refused_field("far_tile", R"({"tokens": 4096, "level": 3, "every": 3})"), "every");
}

TEST(FarQuestions, SayWhichPairACellShows) {
  const Answer needle = ask("far_largest", R"({"tokens": 4096, "area": "3072:3200,3072:3200"})");
  EXPECT_EQ(needle.json["query"], 3125);
  EXPECT_EQ(needle.json["key_word"], "Paris");
  const Answer row = ask("far_row", R"({"tokens": 4096, "query": 3125, "count": 1})");
  EXPECT_EQ(needle.json["key"], row.json["top"][0]["key"]);
  EXPECT_EQ(needle.json["weight"], row.json["top"][0]["weight"]);
  EXPECT_EQ(refused_field("far_largest", R"({"tokens": 4096, "area": "0:4097,0:1"})"), "area");
}

TEST(FarQuestions, LookAtAModelToo) {
  const std::string which = R"("model": "induction", "text": "abcxyzab", "layer": 1)";
  const Answer opened = ask("far_open", "{" + which + "}");
  EXPECT_EQ(opened.json["queries"], opened.json["keys"]);
  const Answer tile = ask("far_tile", "{" + which + "}");
  EXPECT_EQ(tile.json["queries"][7], "b");
  const Answer row = ask("far_row", "{" + which + R"(, "query": 7})");
  EXPECT_EQ(row.json["top"][0]["key"], 2);
  const auto columns = tile.json["mean"]["shape"][1].get<std::size_t>();
  EXPECT_NEAR(weight_of(tile.numbers<Half>(tile.json["mean"])[7 * columns + 2]),
              row.json["top"][0]["weight"].get<double>(), 0.006);
}

TEST(FarQuestions, ReadTheFileThatTheStudioWasOpenedWith) {
  const tests::TemporaryDirectory directory;
  const std::string file = directory / "book.txt";
  write_file(file, std::string_view("abcxyzab\n"));  // the end of its last line is no part of the text
  Studio studio({.model = "induction", .text = {}, .mask = {}, .file = file});
  const auto row = [&](const std::string& request) { return Json::parse(studio.ask("far_row", request).json); };
  const Json of_file = row(R"({"model": "induction", "layer": 1, "query": 7})");
  EXPECT_EQ(of_file["top"][0]["word"], "c");
  EXPECT_EQ(of_file, row(R"({"model": "induction", "layer": 1, "query": 7, "text": "abcxyzab"})"));
  const Json opened = Json::parse(studio.ask("far_open", R"({"model": "induction", "layer": 1})").json);
  EXPECT_EQ(opened["site"], "tokens");
  EXPECT_EQ(opened["queries"], 8);
}

TEST(FarQuestions, NameTheFieldThatIsWrong) {
  EXPECT_EQ(refused_field("far_open", R"({"tokens": 100})"), "tokens");
  EXPECT_EQ(refused_field("far_open", R"({"tokens": 4096, "head": 1})"), "head");
  EXPECT_EQ(refused_field("far_open", R"x({"tokens": 4096, "mask": "documents(3)"})x"), "mask");
  EXPECT_EQ(refused_field("far_tile", R"({"tokens": 4096, "level": 5})"), "level");
  EXPECT_EQ(refused_field("far_tile", R"({"tokens": 4096, "row": 16})"), "row");
  EXPECT_EQ(refused_field("far_walk", R"({"tokens": 4096, "band": 16})"), "band");
  EXPECT_EQ(refused_field("far_row", R"({"tokens": 4096, "query": 4096})"), "query");
  EXPECT_EQ(refused_field("far_row", R"({"tokens": 4096, "at": "4096"})"), "at");
  EXPECT_EQ(refused_field("far_find", R"({"tokens": 4096})"), "word");
}

}  // namespace
}  // namespace qkv::far_test
