// Weights that a hand can add up.
#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "core/error_message.h"
#include "insight/likeness.h"
#include "qkv/insight/heads.h"

namespace qkv::layer_heads_test {
namespace {

using testing::HasSubstr;

// A decoder over <s> a , a: head 0 on the previous token, head 1 even, head 2 on the first.
constexpr std::int64_t kHeads = 3;
constexpr std::int64_t kTokens = 4;

Tensor weights() {
  Tensor all(DType::f32, {kHeads, kTokens, kTokens});
  for (std::int64_t i = 0; i < kTokens; ++i) {
    all.set({0, i, std::max<std::int64_t>(0, i - 1)}, 1);
    for (std::int64_t j = 0; j <= i; ++j) all.set({1, i, j}, 1.0 / static_cast<double>(i + 1));
    all.set({2, i, 0}, 1);
  }
  return all;
}

Tensor hidden() {
  Tensor places(DType::b8, {kTokens, kTokens});
  for (std::int64_t i = 0; i < kTokens; ++i) {
    for (std::int64_t j = i + 1; j < kTokens; ++j) places.set({i, j}, 1);
  }
  return places;
}

PatternTokens text() {
  const std::vector<std::int64_t> ids = {0, 7, 2, 7};
  return {.queries = ids,
          .keys = ids,
          .roles = {TokenRole::separator, TokenRole::word, TokenRole::punctuation, TokenRole::word}};
}

std::vector<HeadStatistics> measured() {
  LayerHeads layer(kHeads);
  layer.add(weights(), text(), hidden());
  return layer.statistics();
}

double share(const HeadStatistics& head, std::string_view word) { return head.shares[text_pattern_named(word)].mean(); }
std::int64_t rows(const HeadStatistics& head, std::string_view word) {
  return head.shares[text_pattern_named(word)].rows;
}

// Row 0 sees one key and is left out.
TEST(LayerHeads, GiveEntropyAndDistanceOverRowsThatSeeTwoKeys) {
  const std::vector<HeadStatistics> heads = measured();
  EXPECT_EQ(heads[0].rows, 3);
  EXPECT_DOUBLE_EQ(heads[0].entropy, 0);
  EXPECT_DOUBLE_EQ(*heads[0].distance, 1);
  EXPECT_NEAR(heads[1].entropy, (std::log(2) + std::log(3) + std::log(4)) / 3, 1e-7);
  EXPECT_NEAR(heads[1].evenness, 1, 1e-7);
  EXPECT_NEAR(*heads[1].distance, (0.5 + 1 + 1.5) / 3, 1e-7);
  EXPECT_DOUBLE_EQ(*heads[2].distance, 2);
}

TEST(LayerHeads, GiveTheShareOfEachPattern) {
  const std::vector<HeadStatistics> heads = measured();
  EXPECT_DOUBLE_EQ(share(heads[0], "previous"), 1);
  EXPECT_DOUBLE_EQ(share(heads[0], "self"), 0);
  EXPECT_NEAR(share(heads[0], "first"), 1.0 / 3, 1e-7);
  EXPECT_NEAR(share(heads[1], "previous"), (1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 3, 1e-7);
  EXPECT_NEAR(heads[2].shares[text_pattern_named("first")].even(), (1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 3, 1e-7);
  EXPECT_DOUBLE_EQ(share(heads[2], "first"), 1);
  EXPECT_EQ(rows(heads[2], "separator"), 0);  // the only one is the first token
  EXPECT_NEAR(share(heads[0], "punctuation"), 0.5, 1e-7);
  EXPECT_EQ(rows(heads[0], "punctuation"), 2);  // places 2 and 3 see it
  EXPECT_EQ(rows(heads[0], "next"), 0);         // a decoder sees none
  EXPECT_EQ(rows(heads[0], "duplicate"), 1);
  EXPECT_DOUBLE_EQ(share(heads[0], "duplicate"), 0);
  EXPECT_DOUBLE_EQ(share(heads[0], "induction"), 1);  // "," follows the first a
}

TEST(LayerHeads, SumsOverTexts) {
  LayerHeads layer(kHeads);
  layer.add(weights(), text(), hidden());
  layer.add(weights(), text(), hidden());
  const std::vector<HeadStatistics> heads = layer.statistics();
  EXPECT_EQ(heads[0].rows, 6);
  EXPECT_DOUBLE_EQ(*heads[0].distance, 1);
  EXPECT_DOUBLE_EQ(share(heads[0], "previous"), 1);
}

// Head 0 and 2 agree in row 1 and are disjoint in rows 2 and 3: distance 1, the largest.
TEST(LayerHeads, SumUpRowsThatComeOneAfterTheOther) {
  Tensor cosines(DType::f64, {kTokens, kTokens});
  for (std::int64_t i = 0; i < kTokens; ++i) {
    for (std::int64_t j = 0; j < kTokens; ++j) cosines.set({i, j}, 1.0 / static_cast<double>(1 + i + 2 * j));
  }
  LayerHeads whole(kHeads);
  whole.add(weights(), text(), hidden(), cosines);
  LayerHeads rows(kHeads);
  const Tensor all = weights(), places = hidden();
  for (const auto& [begin, end] : {std::pair<std::int64_t, std::int64_t>{0, 1}, {1, 3}, {3, kTokens}}) {
    rows.add_rows(begin, all.view().slice(1, begin, end), text(), places.view().slice(0, begin, end),
                  cosines.view().slice(0, begin, end));
  }
  for (std::size_t h = 0; h < static_cast<std::size_t>(kHeads); ++h) {
    const HeadStatistics expected = whole.statistics()[h], found = rows.statistics()[h];
    EXPECT_EQ(found.rows, expected.rows);
    EXPECT_EQ(found.entropy, expected.entropy);
    EXPECT_EQ(found.distance, expected.distance);
    EXPECT_EQ(found.nearest_distance, expected.nearest_distance);
    for (std::size_t p = 0; p < expected.shares.size(); ++p) {
      EXPECT_EQ(found.shares[p].mean(), expected.shares[p].mean()) << text_patterns()[p].word;
    }
  }
  EXPECT_THAT(error_message([&] { rows.add_rows(3, all.view().slice(1, 0, 2), text()); }),
              HasSubstr("tokens: expected 5 queries and 4 keys, got 4 and 4"));
}

TEST(LayerHeads, GiveTheJensenShannonDistanceOfHeads) {
  LayerHeads layer(kHeads);
  layer.add(weights(), text(), hidden());
  const Tensor distances = layer.distances();
  EXPECT_NEAR(distances.at({0, 2}), 2.0 / 3, 1e-7);
  EXPECT_DOUBLE_EQ(distances.at({2, 0}), distances.at({0, 2}));
  EXPECT_DOUBLE_EQ(distances.at({1, 1}), 0);
  double sum = 0;  // one key against n even ones: the mean is (n + 1) / 2n there and 1 / 2n elsewhere
  for (const double n : {2.0, 3.0, 4.0}) {
    const double own = (n + 1) / (2 * n);
    const double nats = -own * std::log(own) + (n - 1) / (2 * n) * std::log(2 * n) - 0.5 * std::log(n);
    sum += std::sqrt(nats / std::numbers::ln2);
  }
  EXPECT_NEAR(distances.at({0, 1}), sum / 3, 1e-6);
  const std::vector<HeadStatistics> heads = layer.statistics();
  EXPECT_EQ(heads[0].nearest, 1);
  EXPECT_DOUBLE_EQ(heads[0].nearest_distance, distances.at({0, 1}));
}

TEST(LayerHeads, HaveNoPatternsOverPlacesThatAreNoText) {
  LayerHeads layer(kHeads);
  layer.add(weights(), {.queries = {}, .keys = {}});
  const HeadStatistics head = layer.statistics().front();
  EXPECT_EQ(head.rows, 4);
  EXPECT_FALSE(head.distance);
  for (const PatternShare& one : head.shares) EXPECT_EQ(one.rows, 0);
}

TEST(LayerHeads, HaveNoRowsWhereEachQuerySeesOneKey) {
  LayerHeads layer(1);
  layer.add(Tensor(std::vector<float>{1}, {1, 1, 1}), {.queries = {3}, .keys = {3}});
  const HeadStatistics head = layer.statistics().front();
  EXPECT_EQ(head.rows, 0);
  EXPECT_FALSE(head.nearest);
  EXPECT_EQ(class_of(head).word, "-");
}

TEST(LayerHeads, RefuseOtherShapes) {
  LayerHeads layer(2);
  EXPECT_THAT(error_message([&] { layer.add(weights(), text()); }),
              HasSubstr("weights: expected [2, Tq, Tk], got [3, 4, 4]"));
  LayerHeads fitting(kHeads);
  EXPECT_THAT(error_message([&] { fitting.add(weights(), {.queries = {1}, .keys = {1}}); }),
              HasSubstr("tokens: expected 4 queries and 4 keys, got 1 and 1"));
  EXPECT_THAT(error_message([&] { fitting.add(weights(), text(), Tensor(DType::b8, {2, 4})); }),
              HasSubstr("hidden: expected [4, 4], got [2, 4]"));
}

// Five words, of which the last looks at the others: with the order of their likeness, against it, and at all alike.
TEST(LayerHeads, SayWhetherLikeTokensAreLookedAt) {
  Tensor all(DType::f64, {3, 5, 5});
  Tensor cosines(DType::f64, {5, 5});
  const std::vector<double> rising = {0.1, 0.2, 0.3, 0.4, 0};
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) {
      const double value = rising[static_cast<std::size_t>(j)];
      all.set({0, i, j}, value);
      all.set({1, i, j}, 0.25 - value / 2);
      all.set({2, i, j}, 0.2);
      cosines.set({i, j}, value * value);  // the order counts, not the size
    }
  }
  Tensor above(DType::b8, {5, 5});
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t j = i + 1; j < 5; ++j) above.set({i, j}, 1);
  }
  const std::vector<std::int64_t> ids = {1, 2, 3, 4, 5};
  const PatternTokens words{.queries = ids, .keys = ids, .roles = {}};
  LayerHeads layer(3);
  layer.add(all, words, above, cosines);
  const std::vector<HeadStatistics> heads = layer.statistics();
  EXPECT_DOUBLE_EQ(heads[0].similarity.value(), 1);
  EXPECT_DOUBLE_EQ(heads[1].similarity.value(), -1);
  EXPECT_DOUBLE_EQ(heads[2].similarity.value(), 0);
  EXPECT_FALSE(measured().front().similarity) << "no cosines";
  EXPECT_THAT(error_message([&] { layer.add(all, words, above, weights()); }), HasSubstr("cosines: expected [5, 5]"));
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  return insight::correlation_of_ranks(insight::ranks_of(a), insight::ranks_of(b));
}

// Ranks of equals are their mean: scipy.stats.spearmanr([1, 2, 2, 5], [3, 1, 4, 8]) is 0.632455532.
TEST(LayerHeads, RankCorrelationIsSpearmans) {
  EXPECT_NEAR(rank_correlation(std::vector<double>{1, 2, 2, 5}, std::vector<double>{3, 1, 4, 8}), 0.632455532, 1e-9);
  EXPECT_EQ(rank_correlation(std::vector<double>{1, 1, 1}, std::vector<double>{3, 1, 4}), 0);
}

// NaN ranks behind all numbers, and ends.
// Long lists are sorted in another way.
TEST(LayerHeads, RanksOfLongListsAreThoseOfSortedOnes) {
  std::vector<double> values;
  for (int n = 0; n < 300; ++n) values.push_back(std::sin(n * n) * std::pow(10.0, n % 7) + (n % 5 == 0 ? NAN : 0));
  for (const double value : std::vector<double>{0.0, -0.0, -1e-310, 1e-310, -INFINITY, INFINITY, 0.5, 0.5})
    values.push_back(value);
  const std::vector<double> ranks = insight::ranks_of(values);
  for (std::size_t a = 0; a < values.size(); ++a) {
    double below = 0, equal = 0;
    for (const double other : values) {
      const bool both_nan = std::isnan(other) && std::isnan(values[a]);
      below += other < values[a] || (std::isnan(values[a]) && !std::isnan(other)) ? 1 : 0;
      equal += other == values[a] || both_nan ? 1 : 0;
    }
    EXPECT_EQ(ranks[a], below + (equal - 1) / 2) << values[a];
  }
}

TEST(LayerHeads, RankCorrelationOfNaNEnds) {
  const std::vector<double> values = {1, NAN, 2, NAN};
  EXPECT_DOUBLE_EQ(rank_correlation(values, values), 1);
  EXPECT_EQ(rank_correlation(std::vector<double>{NAN, NAN}, std::vector<double>{1, 2}), 0);
}

TEST(LayerHeads, OfADecoderOfStatesAloneHaveNoImportance) {
  Generator generator(3);
  const Model states(Decoder({.vocabulary = 7, .d_model = 8, .heads = 2, .scores = false}, generator));
  const std::vector<HeadText> texts = {{.ids = {1, 2, 3}, .targets = {2, 3, -100}}};
  const HeadAnalysis analysis = analyze_heads(states, texts, {.importance_texts = 1});
  EXPECT_EQ(analysis.sites.front().heads, 2);
  EXPECT_THAT(analysis.no_importance, HasSubstr("the model gives states alone"));
}

}  // namespace
}  // namespace qkv::layer_heads_test
