#include "qkv/insight/report.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace qkv::report_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Two layers of two heads: one on the previous token, the other even, over text that sees all.
SiteHeads site() {
  SiteHeads made{.layers = 2, .heads = 2};
  for (std::int64_t layer = 0; layer < 2; ++layer) {
    LayerHeads heads(2);
    Tensor weights(DType::f64, {2, 3, 3});
    for (std::int64_t i = 0; i < 3; ++i) {
      weights.set({0, i, std::max<std::int64_t>(0, i - 1)}, 1);
      for (std::int64_t j = 0; j < 3; ++j) weights.set({1, i, j}, 1.0 / 3);
    }
    heads.add(weights, {.queries = {1, 2, 3}, .keys = {1, 2, 3}});
    for (HeadStatistics head : heads.statistics()) {
      head.layer = layer;
      head.shown = class_of(head);
      made.all.push_back(head);
    }
    made.distances.push_back(heads.distances());
  }
  return made;
}

HeadAnalysis analysis() {
  HeadAnalysis made{.texts = 1, .tokens = 3};
  made.sites.push_back(site());
  made.no_importance = "not asked for";
  return made;
}

TEST(ReportOfHeads, HasATableInEightyColumns) {
  HeadAnalysis full = analysis();
  for (HeadStatistics& head : full.sites[0].all) {
    head.removal = 12.3456;
    head.gradient = 0.5;
    head.repeat_induction = 0.25;
  }
  full.loss = 1.5;
  const std::string table = heads_table(full, "toy", "1 text");
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_THAT(table, StartsWith("Heads of toy over 1 text (3 tokens)\n"));
  EXPECT_THAT(table, HasSubstr("2 previous, 2 broad"));
  EXPECT_THAT(table, HasSubstr("+12.346"));
  EXPECT_THAT(heads_table(analysis(), "toy", "1 text"), HasSubstr("No importance: not asked for."));
}

TEST(ReportOfHeads, HasALineForEachHeadAsCsv) {
  const std::string csv = heads_csv(analysis());
  std::istringstream lines(csv);
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  ASSERT_EQ(all.size(), 5U);
  EXPECT_THAT(all[0], StartsWith("site,layer,head,class,weight,rows,entropy,evenness,distance,previous,next,self"));
  EXPECT_THAT(all[1], StartsWith("tokens,0,0,previous,1,3,0,0,"));
  for (const std::string& line : all) EXPECT_EQ(std::ranges::count(line, ','), std::ranges::count(all[0], ','));
}

TEST(PicturesOfHeads, AreLayersTimesHeads) {
  const Panel grid = heads_grid(site());
  EXPECT_EQ(grid.heatmaps[0].title, "entropy");
  EXPECT_NEAR(grid.heatmaps[0].values.at({1, 1}), std::log(3), 1e-9);
  EXPECT_EQ(grid.heatmaps[1].title, "evenness");
  EXPECT_EQ(grid.heatmaps[1].values.shape(), (Shape{2, 2}));
  EXPECT_EQ(grid.heatmaps[2].title, "previous token");
  EXPECT_DOUBLE_EQ(grid.heatmaps[2].values.at({1, 0}), 1);
  EXPECT_EQ(grid.heatmaps.back().title, "distance");
  EXPECT_THAT(to_svg(grid), HasSubstr("previous token"));
  EXPECT_THAT(to_svg(grid), Not(HasSubstr("rise of the loss")));
  EXPECT_EQ(head_distances(site()).heatmaps.size(), 2U);
}

TEST(PicturesOfHeads, CountTheClassesOfEachLayer) {
  const Heatmap map = classes_by_layer(site()).heatmaps.front();
  EXPECT_THAT(map.column_labels, ElementsAre("previous", "broad"));
  EXPECT_DOUBLE_EQ(map.values.at({0, 0}), 1);
  EXPECT_DOUBLE_EQ(map.values.at({1, 1}), 1);
}

TEST(PicturesOfHeads, DrawEntropyByDepth) {
  const Chart chart = entropy_by_depth(site());
  ASSERT_EQ(chart.series.size(), 3U);
  EXPECT_NEAR(chart.series[0].y[1], std::log(3) / 2, 1e-9);
  EXPECT_DOUBLE_EQ(chart.series[1].y[0], 0);
  EXPECT_THAT(to_svg(chart), HasSubstr("Entropy by depth"));
}

}  // namespace
}  // namespace qkv::report_test
