// Logarithmic scales, and cells that stand for several places.
#include <gmock/gmock.h>

#include "core/error_message.h"
#include "picture/heatmap_layout.h"
#include "qkv/picture/heatmap.h"

namespace qkv::heatmap_scale_test {
namespace {

using picture::Bar;
using testing::ElementsAre;
using testing::HasSubstr;

Heatmap weights(const std::vector<double>& values) {
  Heatmap heatmap;
  heatmap.values = Tensor(values, {1, static_cast<std::int64_t>(values.size())});
  heatmap.scale = ColourScale::logarithmic;
  return heatmap;
}

Bar bar_of(const Heatmap& heatmap) { return lay_out("", picture::read_panel("test", {"", {heatmap}})).bars.front(); }

TEST(HeatmapCells, HaveNoExponents) {
  const auto cells = [](const std::vector<double>& values) {
    Heatmap heatmap;
    heatmap.values = Tensor(values, {1, static_cast<std::int64_t>(values.size())});
    heatmap.value_name = "score";
    const picture::Grid grid = picture::read_panel("test", {"", {heatmap}}).front();
    std::vector<std::string> numbers = {grid.scale.meaning()};
    for (std::int64_t j = 0; j < grid.columns; ++j) numbers.push_back(grid.number(0, j));
    return numbers;
  };
  EXPECT_THAT(cells({0, 1, 0.004, -0.25}), ElementsAre("score", "0", "1.00", "≈0", "-0.25"));
  EXPECT_THAT(cells({0, 2.5e-7, 1e-9, 1e-12}), ElementsAre("score, cells in 1e-7", "0", "2.50", "0.01", "≈0"));
  EXPECT_THAT(cells({-3e8, 1}), ElementsAre("score, cells in 1e8", "-3.00", "≈0"));
}

TEST(LogarithmicScale, StepsEquallyFromRatioToRatio) {
  const Bar bar = bar_of(weights({0.001, 0.01, 0.1}));
  EXPECT_DOUBLE_EQ(bar.scale.fraction(0.001), 0);
  EXPECT_NEAR(bar.scale.fraction(0.01), 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(bar.scale.fraction(0.1), 1);
  EXPECT_EQ(bar.scale.fraction(0), 0);
  EXPECT_THAT(bar.labels, ElementsAre("0.001", "0.01", "0.1"));
}

TEST(LogarithmicScale, WritesEachCellWithItsFirstDigitsOrAsAboutZero) {
  const picture::Grid grid = picture::read_panel("test", {"", {weights({0, 0.00002, 0.125, 1})}}).front();
  std::vector<std::string> numbers;
  for (std::int64_t column = 0; column < 4; ++column) numbers.push_back(grid.number(0, column));
  EXPECT_THAT(numbers, ElementsAre("0", "≈0", "0.12", "1"));
}

TEST(LogarithmicScale, EndsAMillionthBelowItsHighEnd) {
  const Bar bar = bar_of(weights({0, 1e-9, 0.5}));
  EXPECT_DOUBLE_EQ(bar.scale.low, 0.5e-6);
  EXPECT_TRUE(bar.scale.beyond_low);
  EXPECT_EQ(bar.labels.front(), "≤ 5e-7");
  EXPECT_EQ(bar.labels.back(), "0.5");
}

TEST(ColourBar, NamesItsEnds) {
  Heatmap heatmap = weights({0, 0.83});
  EXPECT_EQ(bar_of(heatmap).labels.back(), "0.83");
  heatmap.scale = ColourScale::linear;
  EXPECT_THAT(bar_of(heatmap).labels, ElementsAre("0.00", "0.20", "0.40", "0.60", "0.83"));
  heatmap.values = Tensor(std::vector<double>{-0.83, 0.5}, {1, 2});
  heatmap.colours = ColourMap::diverging;
  EXPECT_EQ(bar_of(heatmap).labels.front(), "-0.83");
  EXPECT_EQ(bar_of(heatmap).labels.back(), "0.83");
}

TEST(ColourBar, NamesTheLowEndOfALogarithmicScale) {
  const Bar bar = bar_of(weights({0.0013, 1}));
  EXPECT_EQ(bar.labels.front(), "0.0013");
  EXPECT_EQ(bar.scale.fraction(bar.ticks.front()), 0);
  EXPECT_EQ(bar.labels.back(), "1");
}

TEST(ColourBar, SaysInTheTerminalThatItIsLogarithmic) {
  Heatmap heatmap = weights({0.0013, 1});
  heatmap.value_name = "weights";
  const auto text = [&] { return to_terminal({"", {heatmap}}, {TerminalColour::ascii, 80}); };
  EXPECT_THAT(text(), testing::ContainsRegex("\n0\\.0013\\[.*\\]1  weights, log\n"));
  heatmap.value_name = "";
  EXPECT_THAT(text(), HasSubstr("]1  log\n"));
  heatmap.scale = ColourScale::linear;
  EXPECT_THAT(text(), HasSubstr("\n0.00["));
  EXPECT_THAT(text(), testing::Not(HasSubstr("log")));
  heatmap.scale = ColourScale::logarithmic;
  EXPECT_THAT(to_svg({"", {heatmap}}), HasSubstr("value from 0.0013 to 1 on a logarithmic scale"));
}

TEST(ColourBar, SaysInAPictureThatItIsLogarithmic) {
  Heatmap heatmap = weights({0.0013, 1});
  EXPECT_EQ(bar_of(heatmap).scale.meaning(), "log");
  const double unnamed = bar_of(heatmap).height;
  heatmap.value_name = "the weights of one head";
  EXPECT_EQ(bar_of(heatmap).scale.meaning(), "the weights of one head, log");
  EXPECT_EQ(bar_of(heatmap).height, unnamed);  // both have a line for it
  const double wide = bar_of(heatmap).width;
  heatmap.scale = ColourScale::linear;
  EXPECT_EQ(bar_of(heatmap).scale.meaning(), "the weights of one head");
  EXPECT_LT(bar_of(heatmap).width, wide);
  heatmap.value_name = "";
  EXPECT_LT(bar_of(heatmap).height, unnamed);
}

TEST(LogarithmicScale, HasTwoEndsForAnyWeights) {
  for (const std::vector<double>& values : {std::vector<double>{0, 0}, {0.25}, {0, 1}}) {
    const Bar bar = bar_of(weights(values));
    EXPECT_GT(bar.scale.low, 0);
    EXPECT_LT(bar.scale.low, bar.scale.high);
  }
}

TEST(LogarithmicScale, NamesWhatItCannotShow) {
  const auto message = [](const Heatmap& heatmap) {
    return error_message([&] { static_cast<void>(to_svg({"", {heatmap}})); });
  };
  EXPECT_EQ(message(weights({-1, 1})), "to_svg: values: expected no number below 0 on a logarithmic scale, got -1");
  Heatmap bad = weights({1, 2});
  bad.low = 0;
  EXPECT_EQ(message(bad), "to_svg: low: expected a number above 0, got 0");
  bad.low = std::nullopt;
  bad.colours = ColourMap::diverging;
  EXPECT_EQ(message(bad), "to_svg: scale: expected linear with diverging colours, got logarithmic");
}

Heatmap map_of(std::int64_t cells, std::int64_t places) {
  Heatmap heatmap;
  heatmap.values = Tensor(DType::f64, {cells, cells});
  heatmap.row_places = places;
  heatmap.column_places = places;
  return heatmap;
}

TEST(HeatmapPlaces, AreLabelledWhereTheyAreRound) {
  const auto box = lay_out("", picture::read_panel("test", {"", {map_of(1024, 4096)}})).boxes.front();
  std::vector<std::string> shown;
  for (std::size_t row = 0; row < 1024; ++row) {
    const std::string& text = box.row_labels.texts[row];
    if (text.empty()) continue;
    EXPECT_EQ(std::stoll(text) / 4, static_cast<std::int64_t>(row));
    shown.push_back(text);
  }
  EXPECT_THAT(shown, testing::Contains("500"));
  EXPECT_THAT(shown, testing::Contains("4000"));
  EXPECT_TRUE(box.row_labels.ticks);
}

// 200 places over 32 cells: a cell is 6.25 of them.
TEST(HeatmapPlaces, LieAsFarApartAsTheirNumbers) {
  const auto box = lay_out("", picture::read_panel("test", {"", {map_of(32, 200)}})).boxes.front();
  for (const picture::Labels& labels : {box.row_labels, box.column_labels}) {
    int shown = 0;
    for (std::size_t cell = 0; cell < labels.texts.size(); ++cell) {
      if (labels.texts[cell].empty()) continue;
      ++shown;
      EXPECT_NEAR(labels.place(cell), (std::stod(labels.texts[cell]) + 0.5) * 32 / 200, 1e-12);
      EXPECT_EQ(static_cast<std::size_t>(labels.place(cell)), cell);
    }
    EXPECT_GE(shown, 3);
  }
}

TEST(HeatmapPlaces, AreCountedInTheTerminal) {
  const std::string text = to_terminal({"", {map_of(4, 400)}}, {});
  EXPECT_THAT(text, testing::AllOf(HasSubstr("\n  0 "), HasSubstr("\n100 "), HasSubstr("\n300 ")));
}

TEST(HeatmapPlaces, AreNoFewerThanCells) {
  EXPECT_EQ(error_message([] { static_cast<void>(to_svg({"", {map_of(4, 3)}})); }),
            "to_svg: row_places: expected 4 or more, got 3");
}

}  // namespace
}  // namespace qkv::heatmap_scale_test
