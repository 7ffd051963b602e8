#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "mask/random_mask.h"
#include "qkv/tile_plan.h"

namespace qkv::property_test {
namespace {

using mask_test::any_in;
using mask_test::any_mask;
using mask_test::any_shape;
using mask_test::RandomMask;

template <class Body>
void for_each_place(const MaskShape& shape, const Body& body) {
  for (std::int64_t b = 0; b < shape.B; ++b) {
    for (std::int64_t h = 0; h < shape.H; ++h) {
      for (std::int64_t i = 0; i < shape.Tq; ++i) {
        for (std::int64_t j = 0; j < shape.Tk; ++j) body(Place{b, h, i, j});
      }
    }
  }
}

Tile any_tile(const MaskShape& shape) {
  Tile tile{.b = any_in(0, shape.B - 1), .h = any_in(0, shape.H - 1)};
  tile.i_begin = any_in(0, shape.Tq);
  tile.i_end = any_in(tile.i_begin, shape.Tq);
  tile.j_begin = any_in(0, shape.Tk);
  tile.j_end = any_in(tile.j_begin, shape.Tk);
  return tile;
}

RC_GTEST_PROP(MaskProperty, ExpressionsAgreeWithBruteForce, ()) {
  const MaskShape shape = any_shape();
  const RandomMask random = any_mask(shape, 3);
  random.mask.validate(shape);
  for_each_place(shape, [&](const Place& at) { RC_ASSERT(random.mask.allows(at, shape) == random.rule(at)); });
}

RC_GTEST_PROP(MaskProperty, RowBitsAgreeWithAllows, ()) {
  const MaskShape shape = any_shape();
  const RandomMask random = any_mask(shape, 3);
  const std::int64_t j = any_in(0, shape.Tk);
  const int count = static_cast<int>(any_in(0, std::min<std::int64_t>(64, shape.Tk - j)));
  for (std::int64_t i = 0; i < shape.Tq; ++i) {
    Place at{.b = shape.B - 1, .h = shape.H - 1, .i = i, .j = j};
    const std::uint64_t bits = random.mask.row_bits(at, count, shape);
    RC_ASSERT(count == 64 || bits >> count == 0);
    for (int c = 0; c < count; ++c, ++at.j) RC_ASSERT(((bits >> c & 1U) != 0) == random.rule(at));
  }
}

RC_GTEST_PROP(MaskProperty, ClassifyAndHullNeverLie, ()) {
  const MaskShape shape = any_shape();
  const RandomMask random = any_mask(shape, 3);
  const Tile tile = any_tile(shape);
  const TileClass sort = random.mask.classify(tile, shape);
  const KeyRange hull = random.mask.hull(tile, shape);
  RC_ASSERT(tile.j_begin <= hull.begin && hull.begin <= hull.end && hull.end <= tile.j_end);
  for (Place at{tile.b, tile.h, tile.i_begin, 0}; at.i < tile.i_end; ++at.i) {
    for (at.j = tile.j_begin; at.j < tile.j_end; ++at.j) {
      const bool seen = random.rule(at);
      RC_ASSERT(!(seen && sort == TileClass::skip));
      RC_ASSERT(!(!seen && sort == TileClass::full));
      RC_ASSERT(!seen || (hull.begin <= at.j && at.j < hull.end));
    }
  }
}

RC_GTEST_PROP(MaskProperty, APlanCountsAsBruteForceDoes, ()) {
  const MaskShape shape = any_shape();
  const RandomMask random = any_mask(shape, 2);
  const TileSize size{any_in(1, 9), any_in(1, 70)};
  const TilePlan plan(random.mask, shape, size);
  TileCounts expected;
  for (std::int64_t b = 0; b < shape.B; ++b) {
    for (std::int64_t h = 0; h < shape.H; ++h) {
      for (std::int64_t row = 0; row * size.queries < shape.Tq; ++row) {
        for (std::int64_t column = 0; column * size.keys < shape.Tk; ++column) {
          std::int64_t kept = 0;
          std::int64_t pairs = 0;
          for (std::int64_t i = row * size.queries; i < std::min(shape.Tq, (row + 1) * size.queries); ++i) {
            for (std::int64_t j = column * size.keys; j < std::min(shape.Tk, (column + 1) * size.keys); ++j) {
              kept += random.rule({b, h, i, j}) ? 1 : 0;
              ++pairs;
              RC_ASSERT(plan.visible(b, h, i, j) == random.rule({b, h, i, j}));
            }
          }
          ++(kept == 0 ? expected.skip : (kept == pairs ? expected.full : expected.partial));
          expected.pairs_kept += kept;
          expected.pairs_total += pairs;
          RC_ASSERT(plan.pairs_kept(b, h, row, column) == kept);
        }
      }
    }
  }
  const TileCounts counts = plan.counts();
  RC_ASSERT(counts.skip == expected.skip);
  RC_ASSERT(counts.full == expected.full);
  RC_ASSERT(counts.partial == expected.partial);
  RC_ASSERT(counts.pairs_kept == expected.pairs_kept);
  RC_ASSERT(counts.pairs_total == expected.pairs_total);
}

RC_GTEST_PROP(MaskProperty, ColumnsOfARowAreTight, ()) {
  const MaskShape shape = any_shape();
  const TilePlan plan(any_mask(shape, 2).mask, shape, {3, 5});
  for (std::int64_t row = 0; row < plan.rows(); ++row) {
    const KeyRange columns = plan.columns_of(0, 0, row);
    for (std::int64_t column = 0; column < plan.columns(); ++column) {
      const bool outside = column < columns.begin || column >= columns.end;
      const bool edge = column == columns.begin || column == columns.end - 1;
      const bool skipped = plan.tile(0, 0, row, column) == TileClass::skip;
      if (outside) RC_ASSERT(skipped);
      if (!outside && edge) RC_ASSERT(!skipped);
    }
  }
}

RC_GTEST_PROP(MaskProperty, DeMorgan, ()) {
  const MaskShape shape = any_shape();
  const Mask a = any_mask(shape, 1).mask;
  const Mask b = any_mask(shape, 1).mask;
  for_each_place(shape, [&](const Place& at) {
    RC_ASSERT((!(a & b)).allows(at, shape) == ((!a) | (!b)).allows(at, shape));
    RC_ASSERT((!(a | b)).allows(at, shape) == ((!a) & (!b)).allows(at, shape));
    RC_ASSERT((!!a).allows(at, shape) == a.allows(at, shape));
  });
}

RC_GTEST_PROP(MaskProperty, TheTextFormReadsBackAsTheSameMask, ()) {
  const MaskShape shape = any_shape();
  const RandomMask random = any_mask(shape, 3);
  const std::string text = random.mask.to_string();
  RC_PRE(text.find('<') == std::string::npos);  // a predicate, or an array too large to print
  const Mask again = parse_mask(text);
  RC_ASSERT(again.to_string() == text);
  again.validate(shape);
  for_each_place(shape, [&](const Place& at) { RC_ASSERT(again.allows(at, shape) == random.rule(at)); });
}

}  // namespace
}  // namespace qkv::property_test
