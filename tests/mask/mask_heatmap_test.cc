#include "qkv/picture/mask_heatmap.h"

#include <gmock/gmock.h>

#include "core/error_message.h"

namespace qkv::mask_heatmap_test {
namespace {

using testing::ElementsAre;

TEST(MaskHeatmap, DrawsEachPairOfASmallMatrix) {
  const Heatmap picture = mask_heatmap(TilePlan(causal(), {.Tq = 2, .Tk = 3}));
  EXPECT_EQ(picture.values.shape(), (Shape{2, 3}));
  EXPECT_THAT(picture.values.to_vector(), ElementsAre(1, 1, 0, 1, 1, 1));
  EXPECT_THAT(picture.hidden.to_vector(), ElementsAre(0, 0, 1, 0, 0, 0));
}

TEST(MaskHeatmap, DrawsTheShareOfEachTileOfALongMatrix) {
  const Heatmap picture = mask_heatmap(TilePlan(causal(), {.Tq = 128, .Tk = 128}));
  EXPECT_THAT(picture.values.to_vector(), ElementsAre(65.0 / 128, 0, 1, 65.0 / 128));
  EXPECT_THAT(picture.hidden.to_vector(), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(picture.row_labels, ElementsAre("0", "64"));
}

TEST(MaskHeatmap, JoinsTilesWhereTheyAreMany) {
  const Heatmap picture = mask_heatmap(TilePlan(key_lengths({3}), {.Tq = 1, .Tk = 10}, {1, 1}), 0, 0, 3);
  EXPECT_EQ(picture.values.shape(), (Shape{1, 3}));
  EXPECT_THAT(picture.values.to_vector(), ElementsAre(1, 0, 0));
  EXPECT_THAT(picture.column_labels, ElementsAre("0", "3", "6"));
}

TEST(MaskHeatmap, DrawsTheHeadThatIsAskedFor) {
  const TilePlan plan(key_lengths({1, 2}), {.B = 2, .Tq = 1, .Tk = 2});
  EXPECT_THAT(mask_heatmap(plan, 1, 0).values.to_vector(), ElementsAre(1, 1));
}

TEST(MaskHeatmap, SaysWhatCannotBeDrawn) {
  const TilePlan plan(all(), {.Tq = 0, .Tk = 3});
  EXPECT_EQ(error_message([&] { (void)mask_heatmap(plan); }),
            "mask_heatmap: plan: expected one query and one key or more, got 0 queries and 3 keys");
  EXPECT_EQ(error_message([&] { (void)mask_heatmap(plan, 0, 0, 0); }),
            "mask_heatmap: most_cells: expected 1 or more, got 0");
}

}  // namespace
}  // namespace qkv::mask_heatmap_test
