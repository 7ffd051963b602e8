// What runs and what is said of it. Nothing here looks at how long anything took.
#include "qkv/study/variants.h"

#include <gmock/gmock.h>

#include <map>
#include <sstream>

namespace qkv::variants_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

VariantSetup small(std::int64_t from, std::int64_t to) {
  return {.from = from,
          .to = to,
          .heads = 2,
          .head_dim = 8,
          .repeats = 1,
          .window = 4,
          .stride = 4,
          .block = 8,
          .masks = {}};
}

std::vector<VariantCost> costs_of(const VariantSetup& setup) {
  return run_variants(setup, {.peak_bytes = [](const std::function<void()>& run) {
                        run();
                        return std::int64_t{1} << 20;
                      }});
}

std::map<std::string, VariantCost> costs_at(const VariantSetup& setup, std::int64_t tokens) {
  std::map<std::string, VariantCost> costs;
  for (const VariantCost& cost : costs_of(setup)) {
    if (cost.tokens == tokens) costs[cost.variant] = cost;
  }
  return costs;
}

TEST(StudyOfVariants, RunsEveryVariantAtEveryDoubling) {
  VariantSetup setup = small(16, 64);
  setup.causal = true;
  EXPECT_THAT(setup.lengths(), ElementsAre(16, 32, 64));
  const std::vector<VariantCost> costs = costs_of(setup);
  ASSERT_EQ(costs.size(), 3 * 7U);
  std::vector<std::string> names;
  for (std::size_t n = 0; n < 7; ++n) names.push_back(costs[n].variant);
  EXPECT_THAT(names,
              ElementsAre("exact", "standard", "linear elu+1", "linear softmax", "window", "strided", "block-sparse"));
  EXPECT_EQ(costs[0].bytes, (1 << 20) - 2 * 16 * 8 * 4);  // what was held, without out
}

TEST(StudyOfVariants, ExactIsExactAndTheOthersAreNot) {
  for (const InputData data : {InputData::random, InputData::local}) {
    VariantSetup setup = small(64, 64);
    setup.data = data;
    const auto costs = costs_at(setup, 64);
    for (const char* variant : {"exact", "standard"}) EXPECT_LT(costs.at(variant).relative_error, 1e-5) << variant;
    for (const char* variant : {"linear elu+1", "linear softmax", "window", "strided", "block-sparse"}) {
      EXPECT_GT(costs.at(variant).relative_error, 1e-3) << variant;
    }
  }
}

TEST(StudyOfVariants, CountsWhatPatternsKeep) {
  VariantSetup setup = small(128, 128);
  setup.masks = {"causal & window(3)"};
  const auto costs = costs_at(setup, 128);
  // 7 keys a query, less what lies before the first and behind the last token.
  EXPECT_DOUBLE_EQ(costs.at("window").pairs.value(), (128 * 7 - 2 * (1 + 2 + 3)) / (128.0 * 128));
  EXPECT_DOUBLE_EQ(costs.at("strided").pairs.value(), 0.25);
  EXPECT_EQ(costs.at("strided").tiles, 1.0);
  EXPECT_DOUBLE_EQ(costs.at("causal & window(3)").pairs.value(), (128 * 3 - 3) / (128.0 * 128));
  EXPECT_EQ(costs.at("linear elu+1").pairs, std::nullopt);
}

TEST(StudyOfVariants, TellsOfEachLengthAndEndsWhereItIsStopped) {
  std::vector<std::int64_t> measured;
  bool is_stopped = false;
  const auto costs = run_variants(small(16, 64), {.measured =
                                                      [&](std::int64_t tokens) {
                                                        measured.push_back(tokens);
                                                        is_stopped = tokens == 32;
                                                      },
                                                  .stopped = [&] { return is_stopped; }});
  EXPECT_THAT(measured, ElementsAre(16, 32));
  EXPECT_EQ(costs.size(), 2 * 7U);
  EXPECT_EQ(costs[0].bytes, std::nullopt);  // nobody counted
}

TEST(StudyOfVariants, FitsIntoEightyColumns) {
  VariantSetup setup = small(16, 64);
  setup.memory_limit = 8 << 10;
  setup.masks = {"causal & window(3) | strided(16)"};
  const std::string table = variants_table(setup, costs_of(setup));
  EXPECT_THAT(table, HasSubstr("skipped: T x T takes 16 KiB, the limit is 8 KiB\n"));
  EXPECT_THAT(table, HasSubstr("\n    16  causal & window(3) | strided(16)\n"));
  std::istringstream text(table);
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 80U) << line;
}

}  // namespace
}  // namespace qkv::variants_test
