// Each mask by itself, drawn as rows of keys: '#' is visible.
#include <gmock/gmock.h>

#include "core/error_message.h"
#include "qkv/mask.h"

namespace qkv::algebra_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> drawn(const Mask& mask, const MaskShape& shape, std::int64_t b = 0, std::int64_t h = 0) {
  mask.validate(shape);
  std::vector<std::string> rows;
  for (std::int64_t i = 0; i < shape.Tq; ++i) {
    std::string row;
    for (std::int64_t j = 0; j < shape.Tk; ++j) row += mask.allows({b, h, i, j}, shape) ? '#' : '.';
    rows.push_back(row);
  }
  return rows;
}

MaskShape square(std::int64_t T) { return {.Tq = T, .Tk = T}; }

Tensor flags(const std::vector<bool>& values, const Shape& shape) {
  Tensor result(DType::b8, shape);
  std::ranges::copy(values, result.values<bool>().begin());
  return result;
}

TEST(Mask, AllIsTheDefaultAndNoneIsItsOpposite) {
  EXPECT_TRUE(Mask().is_all());
  EXPECT_FALSE(none().is_all());
  EXPECT_THAT(drawn(Mask(), {.Tq = 1, .Tk = 3}), ElementsAre("###"));
  EXPECT_THAT(drawn(none(), {.Tq = 1, .Tk = 3}), ElementsAre("..."));
  EXPECT_TRUE((all() & Mask()).is_all());
}

TEST(Mask, BothSaysNothingTwice) {
  const Mask mask = causal() & window(4);
  EXPECT_EQ((causal() & mask).to_string(), "causal & window(4)");
  EXPECT_EQ((mask & causal()).to_string(), "causal & window(4)");
  EXPECT_EQ((causal(Align::top_left) & causal()).to_string(), "causal(top_left) & causal");
  EXPECT_EQ(parse_mask("none | none & none").to_string(), "none | none & none");  // a text stays as it was written
}

TEST(Mask, CausalAlignsAtEitherCorner) {
  const MaskShape shape{.Tq = 2, .Tk = 4};
  EXPECT_THAT(drawn(causal(), shape), ElementsAre("###.", "####"));
  EXPECT_THAT(drawn(causal(Align::top_left), shape), ElementsAre("#...", "##.."));
  EXPECT_THAT(drawn(causal(Align::top_left, 1), shape), ElementsAre("##..", "###."));
  EXPECT_THAT(drawn(causal(Align::bottom_right, -2), shape), ElementsAre("#...", "##.."));
}

TEST(Mask, CausalWithMoreQueriesThanKeysLeavesTheFirstBlind) {
  EXPECT_THAT(drawn(causal(), {.Tq = 4, .Tk = 2}), ElementsAre("..", "..", "#.", "##"));
}

TEST(Mask, CausalTakesAnOffsetForEachBatchEntry) {
  const Mask mask = causal_offsets({0, 2}, Align::top_left);
  const MaskShape shape{.B = 2, .Tq = 2, .Tk = 4};
  EXPECT_TRUE(mask.varies_by_batch());
  EXPECT_THAT(drawn(mask, shape, 0), ElementsAre("#...", "##.."));
  EXPECT_THAT(drawn(mask, shape, 1), ElementsAre("###.", "####"));
  EXPECT_EQ(error_message([&] { mask.validate({.B = 3, .Tq = 2, .Tk = 4}); }),
            "causal: offsets: expected one for each of 3 batch entries, got 2");
}

TEST(Mask, ExtremeOffsetsDoNotWrapAround) {
  constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_THAT(drawn(causal(Align::top_left, kHighest), square(2)), ElementsAre("##", "##"));
  EXPECT_THAT(drawn(causal(Align::top_left, kLowest), square(2)), ElementsAre("..", ".."));
  EXPECT_THAT(drawn(window(kHighest), square(2)), ElementsAre("##", "##"));
}

TEST(Mask, WindowReachesAsFarToEitherSide) {
  EXPECT_THAT(drawn(window(2), square(4)), ElementsAre("##..", "###.", ".###", "..##"));
  EXPECT_THAT(drawn(causal() & window(2), square(4)), ElementsAre("#...", "##..", ".##.", "..##"));
  EXPECT_EQ(error_message([] { (void)window(0); }), "window: width: expected 1 or more, got 0");
}

TEST(Mask, WindowTakesTwoBoundsOrOne) {
  EXPECT_THAT(drawn(window(2, 0), square(4)), ElementsAre("#...", "##..", "###.", ".###"));
  EXPECT_THAT(drawn(window(std::nullopt, 1), square(3)), ElementsAre("##.", "###", "###"));
  EXPECT_THAT(drawn(window(0, std::nullopt), square(3)), ElementsAre("###", ".##", "..#"));
  EXPECT_THAT(drawn(window(0, 0, Align::top_left), {.Tq = 2, .Tk = 3}), ElementsAre("#..", ".#."));
  EXPECT_TRUE(window(std::nullopt, std::nullopt).is_all());
  EXPECT_EQ(error_message([] { (void)window(-1, 0); }), "window: left: expected 0 or more, got -1");
  EXPECT_EQ(error_message([] { (void)window(0, -1); }), "window: right: expected 0 or more, got -1");
}

TEST(Mask, PrefixOpensTheFirstKeysToAll) {
  EXPECT_THAT(drawn(causal() | prefix(2), square(4)), ElementsAre("##..", "##..", "###.", "####"));
  EXPECT_EQ(error_message([] { (void)prefix(-1); }), "prefix: length: expected 0 or more, got -1");
}

TEST(Mask, DocumentsDoNotSeeEachOther) {
  EXPECT_THAT(drawn(documents({1, 0, 2}), square(3)), ElementsAre("#..", ".##", ".##"));
  EXPECT_THAT(drawn(documents({1, 2}), {.Tq = 4, .Tk = 3}), ElementsAre("...", "#..", ".##", ".##"));
  EXPECT_THAT(drawn(documents({1, 2}, Align::top_left), {.Tq = 4, .Tk = 3}), ElementsAre("#..", ".##", ".##", "..."));
  EXPECT_EQ(error_message([] { documents({1, 2}).validate(square(4)); }),
            "documents: lengths: expected a sum of 4, the number of keys, got 3");
  EXPECT_EQ(error_message([] { (void)documents({}); }), "documents: lengths: expected one length or more, got none");
  EXPECT_EQ(error_message([] { (void)documents({2, -1}); }), "documents: lengths: expected 0 or more, got -1");
}

TEST(Mask, KeyLengthsHidePadding) {
  const Mask mask = key_lengths({1, 3});
  EXPECT_THAT(drawn(mask, {.B = 2, .Tq = 1, .Tk = 3}, 0), ElementsAre("#.."));
  EXPECT_THAT(drawn(mask, {.B = 2, .Tq = 1, .Tk = 3}, 1), ElementsAre("###"));
  EXPECT_THAT(drawn(key_lengths({2}), {.B = 2, .Tq = 1, .Tk = 3}, 1), ElementsAre("##."));
  EXPECT_FALSE(key_lengths({2}).varies_by_batch());
  EXPECT_EQ(error_message([&] { mask.validate({.B = 4, .Tq = 1, .Tk = 3}); }),
            "key_lengths: lengths: expected one length, or one for each of 4 batch entries, got 2");
  EXPECT_EQ(error_message([&] { mask.validate({.B = 2, .Tq = 1, .Tk = 2}); }),
            "key_lengths: lengths: expected at most 2, the number of keys, got 3");
  EXPECT_EQ(error_message([] { (void)key_lengths({}); }),
            "key_lengths: lengths: expected one length or more, got none");
}

TEST(Mask, StridedCountsFromTheQuery) {
  EXPECT_THAT(drawn(strided(2), square(3)), ElementsAre("#.#", ".#.", "#.#"));
  EXPECT_THAT(drawn(strided(3), {.Tq = 1, .Tk = 5}), ElementsAre(".#..#"));
  EXPECT_EQ(error_message([] { (void)strided(0); }), "strided: stride: expected 1 or more, got 0");
}

TEST(Mask, DilatedIsAWindowWithGaps) {
  EXPECT_THAT(drawn(dilated(2, 2), square(5)), ElementsAre("#.#..", ".#.#.", "#.#.#", ".#.#.", "..#.#"));
  EXPECT_EQ(error_message([] { (void)dilated(1, 0); }), "dilated: dilation: expected 1 or more, got 0");
  EXPECT_EQ(error_message([] { (void)dilated(std::int64_t{1} << 62, 2); }),
            "dilated: width: expected width * dilation below 2^63, got 4611686018427387904 * 2");
}

TEST(Mask, GlobalTokensSeeAllAndAreSeenByAll) {
  EXPECT_THAT(drawn(global_tokens(1), square(3)), ElementsAre("###", "#..", "#.."));
  EXPECT_THAT(drawn(global_tokens_at({2, 0, 2}), square(4)), ElementsAre("####", "#.#.", "####", "#.#."));
  EXPECT_THAT(drawn(global_tokens(1), {.Tq = 3, .Tk = 2}), ElementsAre("#.", "##", "#."));
  EXPECT_THAT(drawn(global_tokens(0), square(1)), ElementsAre("."));
  EXPECT_EQ(error_message([] { (void)global_tokens(-1); }), "global_tokens: count: expected 0 or more, got -1");
  EXPECT_EQ(error_message([] { (void)global_tokens_at({3, -2}); }),
            "global_tokens: positions: expected 0 or more, got -2");
  EXPECT_EQ(error_message([] { (void)global_tokens_at(std::vector{std::numeric_limits<std::int64_t>::max()}); }),
            "global_tokens: positions: expected positions below 2^63 - 1, got 9223372036854775807");
}

TEST(Mask, BlocksAreKeptWhole) {
  const Tensor kept = flags({true, false, false, true}, {2, 2});
  EXPECT_THAT(drawn(block_sparse(2, kept), square(3)), ElementsAre("##.", "##.", "..#"));
  EXPECT_EQ(error_message([&] { block_sparse(2, kept).validate(square(5)); }),
            "block_sparse: kept: expected a shape that broadcasts to [1, 1, 3, 3], got [2, 2]");
  EXPECT_EQ(error_message([&] { block_sparse(2, flags({true}, {1, 1})).validate(square(3)); }),
            "block_sparse: kept: expected [2, 2] blocks of 2, got [1, 1]");
  EXPECT_EQ(error_message([&] { (void)block_sparse(0, kept); }), "block_sparse: block: expected 1 or more, got 0");
  EXPECT_EQ(error_message([&] { (void)block_sparse(2, flags({true}, {1})); }),
            "block_sparse: kept: expected 2 axes or more, got [1]");
}

TEST(Mask, BlocksMayDifferByHead) {
  const Mask mask = block_sparse(2, flags({true, false}, {2, 1, 1}));
  const MaskShape shape{.H = 2, .Tq = 1, .Tk = 2};
  EXPECT_TRUE(mask.varies_by_head());
  EXPECT_THAT(drawn(mask, shape, 0, 0), ElementsAre("##"));
  EXPECT_THAT(drawn(mask, shape, 0, 1), ElementsAre(".."));
}

TEST(Mask, DenseBroadcastsRightAligned) {
  const MaskShape shape{.B = 2, .H = 3, .Tq = 2, .Tk = 2};
  EXPECT_THAT(drawn(dense(flags({true, false}, {2})), shape, 1, 2), ElementsAre("#.", "#."));
  const Mask by_batch = dense(flags({true, false}, {2, 1, 1, 1}));
  EXPECT_TRUE(by_batch.varies_by_batch());
  EXPECT_FALSE(by_batch.varies_by_head());
  EXPECT_THAT(drawn(by_batch, shape, 0), ElementsAre("##", "##"));
  EXPECT_THAT(drawn(by_batch, shape, 1), ElementsAre("..", ".."));
}

TEST(Mask, DenseReadsAnyStridesAndAnyNonzero) {
  const Tensor bytes(std::vector<std::uint8_t>{0, 7, 1, 0}, {2, 2});
  EXPECT_THAT(drawn(dense(bytes.view().transpose(0, 1)), square(2)), ElementsAre(".#", "#."));
}

TEST(Mask, DenseSaysWhatDoesNotFit) {
  EXPECT_EQ(error_message([] { (void)dense(Tensor(DType::f32, {2, 2})); }),
            "dense: visible: expected dtype b8 or u8, got f32");
  EXPECT_EQ(error_message([] { (void)dense(Tensor(DType::b8, {1, 1, 1, 2, 2})); }),
            "dense: visible: expected at most 4 axes, got [1, 1, 1, 2, 2]");
  EXPECT_EQ(error_message([] { dense(Tensor(DType::b8, {3, 2})).validate(square(2)); }),
            "dense: visible: expected a shape that broadcasts to [1, 1, 2, 2], got [3, 2]");
}

TEST(Mask, APredicateIsTheCallersRule) {
  const Mask mask = predicate("even", [](const Place& place, const MaskShape&) { return place.j % 2 == 0; });
  EXPECT_THAT(drawn(mask & causal(), square(3)), ElementsAre("#..", "#..", "#.#"));
  EXPECT_EQ(mask.to_string(), "predicate<even>");
  EXPECT_EQ(error_message([] { (void)predicate("empty", nullptr); }),
            "predicate: rule: expected a function, got an empty function");
}

TEST(Mask, OperatorsValidateEachOperand) {
  const MaskShape shape = square(4);
  EXPECT_THAT(error_message([&] { (causal() & documents({3})).validate(shape); }), HasSubstr("documents: lengths"));
  EXPECT_THAT(error_message([&] { (causal() | documents({3})).validate(shape); }), HasSubstr("documents: lengths"));
  EXPECT_THAT(error_message([&] { (!documents({3})).validate(shape); }), HasSubstr("documents: lengths"));
  EXPECT_EQ(error_message([] { causal().validate({.Tq = -1, .Tk = 2}); }), "MaskShape: Tq: expected 0 or more, got -1");
}

TEST(Mask, RowBitsNameTheirLimit) {
  EXPECT_EQ(causal().row_bits({.i = 2, .j = 1}, 3, square(4)), 0b011U);
  EXPECT_EQ(all().row_bits({}, 64, square(64)), ~std::uint64_t{0});
  EXPECT_EQ(error_message([] { (void)all().row_bits({}, 65, square(70)); }),
            "Mask::row_bits: count: expected 0 to 64, got 65");
}

}  // namespace
}  // namespace qkv::algebra_test
