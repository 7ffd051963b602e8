// The answers to why, computed again by other means.
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "qkv/attention.h"
#include "qkv/explain.h"
#include "qkv/random.h"

namespace qkv::why_test {
namespace {

const Explanation& sample() {
  static const Explanation kExplanation = [] {
    ExplainOptions options;
    options.text = "The cat sat down";
    options.surroundings = Surroundings::post_norm_block;
    return explain(options);
  }();
  return kExplanation;
}

const Section& why(std::string_view id) {
  for (const Section& section : sample().whys) {
    if (section.id == id) return section;
  }
  throw std::out_of_range(std::string(id));
}

double number(std::string_view id, std::size_t table, std::size_t row, std::size_t column) {
  return why(id).tables.at(table).rows.at(row).at(column).number.value();
}

TEST(Whys, EveryOneHasAFinding) {
  std::vector<std::string> ids;
  for (const Section& section : sample().whys) {
    ids.push_back(section.id);
    EXPECT_FALSE(section.finding.empty()) << section.id;
  }
  EXPECT_THAT(ids, testing::ElementsAreArray(kWhyIds));
}

Explanation explained(std::string text, Mask mask = {}) {
  ExplainOptions options;
  options.text = std::move(text);
  options.mask = std::move(mask);
  return explain(options);
}

const Section& named(const std::vector<Section>& sections, std::string_view id) {
  for (const Section& section : sections) {
    if (section.id == id) return section;
  }
  throw std::out_of_range(std::string(id));
}

TEST(Whys, OneTokenIsSaidToShowNothing) {
  const Explanation one = explained("Hello");
  for (const char* id : {"no-scale", "order", "mask-after-softmax", "softmax-axis", "packing"}) {
    EXPECT_THAT(named(one.whys, id).finding, testing::HasSubstr("cannot show")) << id;
  }
  for (const Section& section : explained("Hello you").whys) {
    EXPECT_THAT(section.finding, testing::Not(testing::HasSubstr("cannot show"))) << section.id;
  }
}

TEST(Whys, TheWrongScaleIsThatOfTheModelsWidth) {
  ExplainOptions options;
  options.text = "The cat";
  options.d_model = 8;
  options.d_k = 3;
  const Explanation explanation = explain(options);
  const std::vector<Cell>& row = named(explanation.whys, "no-scale").tables.at(0).rows.at(2);
  EXPECT_EQ(row[0].text, "1/√d_model");
  EXPECT_EQ(row[1].number.value(), 1 / std::sqrt(8.0));
}

TEST(Steps, RowsThatSeeNothingAreNotSaidToSumToOne) {
  const Explanation explanation = explained("The cat", none());
  EXPECT_THAT(named(explanation.steps, "softmax").notes,
              testing::ElementsAre(testing::HasSubstr("No query sees a key")));
  EXPECT_THAT(named(explanation.steps, "sum").text, testing::HasSubstr("every row is zeros"));
}

TEST(Steps, TheEmbeddingTableIsShownWhereAWordRepeats) {
  EXPECT_EQ(named(explained("a b").steps, "embeddings").heatmaps.size(), 1U);
  EXPECT_EQ(named(explained("a b a").steps, "embeddings").heatmaps.size(), 2U);
}

TEST(Whys, VarianceIsThatOfTheDrawnVectors) {
  Generator generator(42);
  const Tensor q = generator.randn({2000, 4});
  const Tensor k = generator.randn({2000, 4});
  double sum = 0;
  double squares = 0;
  for (std::int64_t n = 0; n < 2000; ++n) {
    double dot = 0;
    for (std::int64_t d = 0; d < 4; ++d) dot += q.at({n, d}) * k.at({n, d});
    sum += dot;
    squares += dot * dot;
  }
  const double variance = (squares - sum * sum / 2000) / 1999;
  EXPECT_NEAR(number("variance", 0, 0, 2), variance, 1e-10);
  EXPECT_NEAR(number("variance", 0, 0, 4), variance / 4, 1e-10);
}

TEST(Whys, VarianceGrowsLikeTheWidthAndScalingUndoesIt) {
  // Five standard errors; the fourth moment of q.k is 3 d^2 + 6 d, so the variance's relative error is below this.
  const double tolerance = 5 * std::sqrt((2.0 + 6.0 / 4) / 2000);
  for (std::size_t row = 0; row < 5; ++row) {
    EXPECT_NEAR(number("variance", 0, row, 3), 1.0, tolerance);
    EXPECT_NEAR(number("variance", 0, row, 4), 1.0, tolerance);
  }
}

TEST(Whys, SaturationFollowsTheScale) {
  Generator generator(42);
  std::vector<double> scores = generator.randn({8}).to_vector();
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(4 * score);
  double norm = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < 8; ++j) {
      const double entry = (i == j ? scores[i] / sum : 0) - scores[i] / sum * scores[j] / sum;
      norm += entry * entry;
    }
  }
  EXPECT_NEAR(number("saturation", 0, 4, 1), *std::max_element(scores.begin(), scores.end()) / sum, 1e-12);
  EXPECT_NEAR(number("saturation", 0, 4, 3), std::sqrt(norm), 1e-12);
  for (std::size_t row = 1; row < 8; ++row) {
    EXPECT_GT(number("saturation", 0, row, 1), number("saturation", 0, row - 1, 1));
  }
  EXPECT_LT(number("saturation", 1, 4, 2), number("saturation", 1, 4, 4));
}

TEST(Whys, OrderIsUnseenWithoutPositions) {
  EXPECT_LT(number("order", 0, 0, 1), 1e-12);
  EXPECT_GT(number("order", 0, 1, 1), 0.01);
}

TEST(Whys, MaskingAfterTheSoftmaxLeavesAHole) {
  const Tensor& weights = sample().tensor("weights");
  for (std::int64_t i = 0; i < 4; ++i) {
    double seen = 0;
    for (std::int64_t j = 0; j <= i; ++j) seen += weights.at({0, i, j});
    EXPECT_NEAR(number("mask-after-softmax", 0, static_cast<std::size_t>(i), 1), seen, 1e-15);
    EXPECT_NEAR(number("mask-after-softmax", 0, static_cast<std::size_t>(i), 2), 1.0, 1e-15);
  }
  EXPECT_TRUE(std::isnan(number("mask-after-softmax", 1, 1, 1)));
  EXPECT_EQ(number("mask-after-softmax", 1, 2, 1), 1.0);
}

TEST(Whys, ALargeNumberSpreadsWhatShouldBeHidden) {
  EXPECT_EQ(number("minus-1e9", 0, 0, 1), 0.25);
  EXPECT_EQ(number("minus-1e9", 0, 1, 1), 0.0);
  EXPECT_TRUE(std::isinf(number("minus-1e9", 1, 1, 1)));
  EXPECT_TRUE(std::isnan(number("minus-1e9", 1, 2, 1)));
}

TEST(Whys, TheWrongAxisSumsColumns) {
  const Tensor& scores = sample().tensor("masked");
  double expected = 0;
  for (std::int64_t j = 0; j < 4; ++j) {
    double column = 0;
    for (std::int64_t i = 0; i < 4; ++i) column += std::exp(scores.at({0, i, j}));
    expected += std::exp(scores.at({0, 2, j})) / column;
  }
  EXPECT_NEAR(number("softmax-axis", 0, 2, 1), expected, 1e-14);
  EXPECT_NEAR(number("softmax-axis", 0, 2, 2), 1.0, 1e-15);
}

TEST(Whys, PackedHeadsAgreeAndTheSlipDoesNot) {
  EXPECT_LT(number("packing", 0, 1, 2), 1e-15);
  EXPECT_GT(number("packing", 0, 2, 2), 0.1);
}

TEST(Whys, ABatchMaskOnHeadsIsWrongSilentlyOrRefused) {
  const Table& table = why("mask-shape").tables.front();
  EXPECT_EQ(table.rows[1][2].text, "12 of 36 pairs wrong, silently");
  EXPECT_THAT(table.rows[2][2].text, testing::HasSubstr("expected"));
}

TEST(Whys, TheUntransposedProductIsOffOrRefused) {
  const Table& table = why("transpose").tables.front();
  EXPECT_THAT(table.rows[0][2].text, testing::HasSubstr("is off by up to"));
  EXPECT_THAT(table.rows[1][2].text, testing::HasSubstr("matmul"));
}

TEST(Whys, EpsilonMattersForEvenRows) {
  EXPECT_NEAR(number("epsilon", 0, 0, 3), 1.0, 1e-4);
  EXPECT_LT(number("epsilon", 0, 3, 3), 0.01);
}

}  // namespace
}  // namespace qkv::why_test
