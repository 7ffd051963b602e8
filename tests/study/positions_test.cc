// Models so small that little is asked of how well they learn.
#include "qkv/study/positions.h"

#include <gmock/gmock.h>

namespace qkv::positions_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

PositionSetup small(std::vector<Positions> kinds) {
  return {.kinds = std::move(kinds),
          .train_length = 6,
          .test_lengths = {6, 12, 24, 48},
          .layers = 1,
          .d_model = 8,
          .heads = 2,
          .steps = 3,
          .batch = 4,
          .examples = 8};
}

std::vector<PositionResult> results_of(const PositionSetup& setup) {
  return run_positions(
      setup, {.doing = [](const std::string&) {}, .stopped = [] { return false; }, .done = [](const auto&) {}});
}

TEST(StudyOfPositions, TrainsEveryKindAndTestsEveryLength) {
  const PositionSetup setup = small(
      {Positions::none, Positions::sinusoidal, Positions::learned, Positions::rotary, Positions::alibi, Positions::t5});
  const std::vector<PositionResult> results = results_of(setup);
  EXPECT_EQ(unit_of(setup), "letters");
  EXPECT_EQ(trained_places(setup), 6);
  std::vector<std::string_view> addressing;
  for (const PositionResult& result : results) {
    addressing.push_back(addressing_of(result.kind));
    EXPECT_EQ(result.shares.size(), 4U);
    EXPECT_GT(result.loss, 0.0);
  }
  EXPECT_THAT(addressing, ElementsAre("-", "absolute", "absolute", "relative", "relative", "relative"));
  // The learned table goes as far as the longest test: 8 parameters for each of 48 places.
  EXPECT_EQ(results.at(2).parameters, results.at(0).parameters + 48 * 8);
}

TEST(StudyOfPositions, GivesTheSameTwice) {
  PositionSetup setup = small({Positions::learned, Positions::t5});
  const std::vector<PositionResult> once = results_of(setup);
  const std::vector<PositionResult> again = results_of(setup);
  for (std::size_t n = 0; n < once.size(); ++n) {
    EXPECT_EQ(again.at(n).loss, once[n].loss);
    EXPECT_EQ(again[n].shares, once[n].shares);
  }
  setup.seed = 3;
  EXPECT_NE(results_of(setup).at(0).loss, once.at(0).loss);
}

TEST(StudyOfPositions, LearnsWhereThePlaceBeforeIs) {
  PositionSetup setup = small({Positions::rotary});
  setup.d_model = 32;
  setup.heads = 1;
  setup.batch = 32;
  setup.steps = 300;
  setup.learning_rate = 1e-2;
  setup.test_lengths = {6};
  setup.examples = 64;
  EXPECT_GT(results_of(setup).at(0).shares.at(0), 0.5);
}

TEST(StudyOfPositions, SaysWhichRowsOfTheTableWereTrained) {
  PositionSetup setup = small({Positions::learned, Positions::alibi});
  setup.test_lengths = {6, 12};
  EXPECT_THAT(positions_table(setup, results_of(setup)),
              AllOf(HasSubstr("previous, trained at 6 letters\n"), HasSubstr("\nlearned     absolute "),
                    HasSubstr("\nalibi       relative "), HasSubstr("       6       12\n"),
                    HasSubstr("learned: the table has 12 rows; those from 6 on were in no training text.")));
  setup.kinds = {Positions::alibi};
  EXPECT_THAT(positions_table(setup, results_of(setup)), Not(HasSubstr("the table has")));
}

TEST(StudyOfPositions, FitsIntoEightyColumns) {
  const PositionSetup setup = small({Positions::sinusoidal});
  std::string line;
  std::istringstream text(positions_table(setup, results_of(setup)));
  while (std::getline(text, line)) EXPECT_LE(line.size(), 80U) << line;
}

TEST(StudyOfPositions, SaysWhichTrainingDiverged) {
  PositionSetup setup = small({Positions::none});
  setup.steps = 40;
  setup.learning_rate = 1e30;
  const std::vector<PositionResult> results = results_of(setup);
  EXPECT_THAT(results.at(0).failed, HasSubstr("the first tensor that went bad: "));
}

TEST(StudyOfPositions, EndsWhereItsWatchSays) {
  int asked = 0;
  const PositionSetup setup = small({Positions::none, Positions::t5});
  const auto results = run_positions(
      setup, {.doing = [](const std::string&) {}, .stopped = [&] { return ++asked > 2; }, .done = [](const auto&) {}});
  EXPECT_TRUE(results.empty());
}

}  // namespace
}  // namespace qkv::positions_test
