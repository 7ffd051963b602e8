#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/error_message.h"
#include "mask/batch_entry.h"
#include "mask/random_bias.h"

namespace qkv::bias_property_test {
namespace {

using mask_test::any_bias;
using mask_test::any_in;
using mask_test::any_mask;

MaskShape any_long_shape() {
  return {.B = any_in(1, 3), .H = any_in(1, 3), .Tq = any_in(1, 150), .Tk = any_in(1, 150)};
}

Tile any_tile(const MaskShape& shape) {
  Tile tile{.b = any_in(0, shape.B - 1), .h = any_in(0, shape.H - 1)};
  tile.i_begin = any_in(0, shape.Tq - 1);
  tile.i_end = any_in(tile.i_begin, shape.Tq);
  tile.j_begin = any_in(0, shape.Tk - 1);
  tile.j_end = any_in(tile.j_begin, shape.Tk);
  return tile;
}

bool same(double a, double b) { return a == b; }

RC_GTEST_PROP(BiasProperty, ATileIsWhatAtSaysRoundedOnce, ()) {
  const MaskShape shape = any_long_shape();
  const Bias bias = any_bias(shape);
  bias.validate(shape);
  const Tile tile = any_tile(shape);
  constexpr float kUntouched = 12345;
  const std::int64_t stride = tile.j_end - tile.j_begin + any_in(0, 3);
  std::vector<float> rows(static_cast<std::size_t>((tile.i_end - tile.i_begin) * stride), kUntouched);
  bias.write_tile(tile, rows.data(), stride, shape);
  for (std::int64_t n = 0; n < static_cast<std::int64_t>(rows.size()); ++n) {
    const Place at{tile.b, tile.h, tile.i_begin + n / stride, tile.j_begin + n % stride};
    const float expected = at.j < tile.j_end ? static_cast<float>(bias.at(at, shape)) : kUntouched;
    RC_ASSERT(same(rows[static_cast<std::size_t>(n)], expected));
  }
}

RC_GTEST_PROP(BiasProperty, ARowIsWhatAtSays, ()) {
  const MaskShape shape{.H = any_in(1, 3), .Tq = any_in(1, 5), .Tk = any_in(1, 400)};
  const Bias bias = any_bias(shape);
  const Place first{.h = shape.H - 1, .i = any_in(0, shape.Tq - 1), .j = any_in(0, shape.Tk - 1)};
  std::vector<double> row(static_cast<std::size_t>(shape.Tk - first.j));
  bias.add_row(first, row, shape);
  for (Place at = first; at.j < shape.Tk; ++at.j) {
    RC_ASSERT(same(row[static_cast<std::size_t>(at.j - first.j)], bias.at(at, shape)));
  }
}

RC_GTEST_PROP(BiasProperty, T5ReadsTheBucketOfEachDistance, ()) {
  const std::int64_t count = 2 * any_in(2, 20);
  const T5Buckets buckets{
      .buckets = count, .max_distance = any_in(count + 1, 3000), .bidirectional = any_in(0, 1) == 1};
  Tensor table(DType::f64, {count, 1});
  for (std::int64_t bucket = 0; bucket < count; ++bucket) table.set({bucket, 0}, static_cast<double>(bucket));
  const Bias bias = t5_bias(table, buckets, Align::top_left);
  const MaskShape shape{.Tq = 4000, .Tk = 4000};
  const std::int64_t i = any_in(0, shape.Tq - 1);
  for (std::int64_t j = 0; j < shape.Tk; ++j) {
    RC_ASSERT(bias.at({.i = i, .j = j}, shape) == static_cast<double>(t5_bucket(j - i, buckets)));
  }
}

RC_GTEST_PROP(BatchEntry, SaysOfItsEntryWhatTheWholeSays, ()) {
  const MaskShape shape = any_long_shape();
  const MaskShape single{.B = 1, .H = shape.H, .Tq = shape.Tq, .Tk = shape.Tk};
  const std::int64_t b = any_in(0, shape.B - 1);
  const mask_test::RandomMask random = any_mask(shape, 2);
  const Mask mask = batch_entry(random.mask, b, shape.B);
  const Bias whole = any_bias(shape);
  const Bias bias = batch_entry(whole, b, shape.B);
  mask.validate(single);
  bias.validate(single);
  RC_ASSERT(!mask.varies_by_batch());
  Tile tile = any_tile(shape);
  tile.b = 0;
  const TileClass sort = mask.classify(tile, single);
  const KeyRange hull = mask.hull(tile, single);
  for (std::int64_t i = tile.i_begin; i < tile.i_end; ++i) {
    const std::uint64_t bits = mask.row_bits({0, tile.h, i, 0}, 1, single);
    RC_ASSERT((bits == 1) == random.rule({b, tile.h, i, 0}));
    for (std::int64_t j = tile.j_begin; j < tile.j_end; ++j) {
      const bool seen = random.rule({b, tile.h, i, j});
      RC_ASSERT(mask.allows({0, tile.h, i, j}, single) == seen);
      RC_ASSERT(sort != (seen ? TileClass::skip : TileClass::full));
      RC_ASSERT(!seen || (hull.begin <= j && j < hull.end));
      RC_ASSERT(same(bias.at({0, tile.h, i, j}, single), whole.at({b, tile.h, i, j}, shape)));
    }
  }
  std::vector<float> rows(64);
  bias.write_tile({0, tile.h, 0, 1, 0, std::min<std::int64_t>(64, shape.Tk)}, rows.data(), 64, single);
  RC_ASSERT(same(rows[0], static_cast<float>(whole.at({b, tile.h, 0, 0}, shape))));
}

TEST(BatchEntry, LeavesWhatDoesNotVaryAsItIs) {
  EXPECT_TRUE(batch_entry(all(), 1, 2).is_all());
  EXPECT_TRUE(batch_entry(Bias(), 1, 2).is_zero());
  const Mask mask = causal() & window(3);
  EXPECT_EQ(&batch_entry(mask, 1, 2).node(), &mask.node());
  EXPECT_EQ(batch_entry(key_lengths({3, 4}) | none(), 1, 2).to_string(), "keys(3, 4) | none");
}

TEST(BatchEntry, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_message([] { (void)batch_entry(all(), 2, 2); }), "batch_entry: b: expected 0 <= b < 2, got 2");
  EXPECT_EQ(error_message([] { (void)batch_entry(Bias(), -1, 2); }), "batch_entry: b: expected 0 <= b < 2, got -1");
  const MaskShape two{.B = 2, .Tq = 1, .Tk = 9};
  EXPECT_EQ(error_message([&] { batch_entry(key_lengths({3, 4}), 1, 2).validate(two); }),
            "batch_entry: mask: expected a shape with B = 1, got B = 2");
  EXPECT_EQ(error_message([&] { batch_entry(alibi(), 1, 2).validate(two); }),
            "batch_entry: bias: expected a shape with B = 1, got B = 2");
  EXPECT_EQ(error_message([] { batch_entry(key_lengths({3, 4}), 0, 3).validate({.Tq = 1, .Tk = 9}); }),
            "key_lengths: lengths: expected one length, or one for each of 3 batch entries, got 2");
}

}  // namespace
}  // namespace qkv::bias_property_test
