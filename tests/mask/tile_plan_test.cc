#include "qkv/tile_plan.h"

#include <gmock/gmock.h>

#include "core/error_message.h"

namespace qkv::tile_plan_test {
namespace {

using testing::HasSubstr;

TEST(TilePlan, CausalIsHalfTheTilesAndTheDiagonal) {
  const TilePlan plan(causal(), {.Tq = 256, .Tk = 256});
  const TileCounts counts = plan.counts();
  EXPECT_EQ(counts.full, 6);
  EXPECT_EQ(counts.partial, 4);
  EXPECT_EQ(counts.skip, 6);
  EXPECT_EQ(counts.pairs_kept, 256 * 257 / 2);
  EXPECT_EQ(counts.pairs_total, 256 * 256);
  EXPECT_DOUBLE_EQ(counts.cost(), 10.0 / 16);
  EXPECT_DOUBLE_EQ(counts.coverage(), 257.0 / 512);
}

TEST(TilePlan, ALongSlidingWindowKeepsItsExactNumberOfPairs) {
  constexpr std::int64_t kLength = 131072;
  const TilePlan plan(causal() & window(512), {.Tq = kLength, .Tk = kLength});
  const TileCounts counts = plan.counts();
  EXPECT_EQ(counts.pairs_kept, kLength * 512 - 512 * 511 / 2);
  // Each row of tiles: the diagonal tile and the one 512 keys before it are partial, the seven between them full.
  EXPECT_EQ(counts.partial, 2048 + 2048 - 8);
  EXPECT_EQ(counts.full, 7 * (2048 - 8) + (0 + 1 + 2 + 3 + 4 + 5 + 6 + 7));
  EXPECT_EQ(counts.total(), std::int64_t{2048} * 2048);
  EXPECT_EQ(plan.columns_of(0, 0, 100).begin, 92);
  EXPECT_EQ(plan.columns_of(0, 0, 100).end, 101);
}

TEST(TilePlan, RepeatsForEachHeadWhatDoesNotVary) {
  const TileCounts one = TilePlan(causal(), {.Tq = 100, .Tk = 70}, {16, 32}).counts();
  const TileCounts many = TilePlan(causal(), {.B = 2, .H = 3, .Tq = 100, .Tk = 70}, {16, 32}).counts();
  EXPECT_EQ(many.pairs_kept, 6 * one.pairs_kept);
  EXPECT_EQ(many.skip, 6 * one.skip);
  EXPECT_EQ(many.full, 6 * one.full);
  EXPECT_EQ(many.partial, 6 * one.partial);
  EXPECT_EQ(many.pairs_total, 6 * 7000);
}

TEST(TilePlan, TellsBatchEntriesApart) {
  const TilePlan plan(key_lengths({2, 4}), {.B = 2, .H = 2, .Tq = 4, .Tk = 4}, {2, 2});
  EXPECT_EQ(plan.tile(0, 1, 0, 1), TileClass::skip);
  EXPECT_EQ(plan.tile(1, 1, 0, 1), TileClass::full);
  EXPECT_EQ(plan.counts().pairs_kept, 2 * (8 + 16));
}

TEST(TilePlan, SettlesWhatIntervalsCannot) {
  // Not one tile of "on and off the diagonal" is provably empty or full by its operands alone.
  const TilePlan nothing(causal() & !causal(), {.Tq = 64, .Tk = 64}, {16, 16});
  EXPECT_EQ(nothing.counts().skip, 16);
  const TilePlan everything(strided(2) | !strided(2), {.Tq = 64, .Tk = 64}, {16, 16});
  EXPECT_EQ(everything.counts().full, 16);
}

TEST(TilePlan, PartialTilesCarryOneBitAPair) {
  const TilePlan plan(causal(), {.Tq = 3, .Tk = 70}, {2, 70});
  EXPECT_EQ(plan.words_per_row(), 2);
  const auto bits = plan.bits(0, 0, 0, 0);
  ASSERT_EQ(bits.size(), 4U);
  EXPECT_EQ(bits[0], ~std::uint64_t{0});
  EXPECT_EQ(bits[1], 0b001111U);
  EXPECT_EQ(bits[3], 0b011111U);
  EXPECT_EQ(plan.tile(0, 0, 1, 0), TileClass::full);
  EXPECT_TRUE(plan.bits(0, 0, 1, 0).empty());
  EXPECT_EQ(plan.pairs_kept(0, 0, 1, 0), 70);
}

TEST(TilePlan, EvaluatesAPredicateOnceForEachPair) {
  int calls = 0;
  const Mask counted = predicate("counted", [&](const Place& place, const MaskShape&) {
    ++calls;
    return place.j > 0;
  });
  const TilePlan plan(counted, {.B = 2, .Tq = 5, .Tk = 7}, {2, 3});
  EXPECT_EQ(calls, 2 * 5 * 7);
  EXPECT_EQ(plan.counts().pairs_kept, 2 * 5 * 6);
}

TEST(TilePlan, OfNoPairsIsEmpty) {
  for (const MaskShape& shape :
       {MaskShape{.Tq = 0, .Tk = 9}, MaskShape{.Tq = 9, .Tk = 0}, MaskShape{.B = 0, .Tq = 9, .Tk = 9}}) {
    const TileCounts counts = TilePlan(causal(), shape).counts();
    EXPECT_EQ(counts.total(), 0);
    EXPECT_EQ(counts.coverage(), 0);
    EXPECT_EQ(counts.cost(), 0);
  }
  EXPECT_EQ(TilePlan(causal(), {.Tq = 9, .Tk = 0}).columns_of(0, 0, 0).end, 0);
}

TEST(TilePlan, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_message([] { TilePlan(all(), {.Tq = 1, .Tk = 1}, {0, 64}); }),
            "TilePlan: size.queries: expected 1 or more, got 0");
  EXPECT_EQ(error_message([] { TilePlan(all(), {.Tq = 1, .Tk = 1}, {64, -1}); }),
            "TilePlan: size.keys: expected 1 or more, got -1");
  EXPECT_THAT(error_message([] { TilePlan(documents({3}), {.Tq = 1, .Tk = 1}); }), HasSubstr("documents: lengths"));
  constexpr std::int64_t kLong = std::int64_t{1} << 40;
  EXPECT_EQ(error_message([] { TilePlan(all(), {.Tq = kLong, .Tk = kLong}); }),
            "Dims: shape: expected fewer than 2^63 elements, got [1, 1, 1099511627776, 1099511627776]");
  EXPECT_EQ(
      error_message([] { TilePlan(all(), {.Tq = kLong, .Tk = 1}); }),
      "TilePlan: size: expected larger tiles: a plan keeps at most 1073741824, of all heads that differ, got 64x1, "
      "which keeps more of the 17179869184 x 1 tiles of 1 heads");
}

TEST(TilePlan, NamesAPlaceOutsideOfIt) {
  const TilePlan plan(causal(), {.Tq = 128, .Tk = 128});
  EXPECT_EQ(error_message([&] { (void)plan.tile(0, 0, 2, 0); }),
            "TilePlan: row, column: expected inside [2, 2], got 2, 0");
  EXPECT_EQ(error_message([&] { (void)plan.tile(1, 0, 0, 0); }), "TilePlan: b, h: expected inside [1, 1], got 1, 0");
}

}  // namespace
}  // namespace qkv::tile_plan_test
