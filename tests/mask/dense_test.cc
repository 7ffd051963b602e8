#include <gtest/gtest.h>

#include <random>

#include "qkv/tile_plan.h"

namespace qkv::dense_test {
namespace {

struct Drawn {
  Tensor flags;  // u8, of any value above 0 for true
  MaskShape shape;
};

Drawn drawn(std::int64_t rows, std::int64_t columns) {
  std::mt19937 random(7);
  Drawn drawn{Tensor(DType::u8, {2, rows, columns}), {.B = 1, .H = 2, .Tq = rows, .Tk = columns}};
  auto* flags = static_cast<std::uint8_t*>(drawn.flags.data());
  for (std::int64_t n = 0; n < drawn.flags.size(); ++n) {
    flags[n] = static_cast<std::uint8_t>(random() % 2 != 0 ? 1 + random() % 255 : 0);
  }
  return drawn;
}

TEST(Dense, BitsAreTheFlagsAtEveryPlace) {
  for (const std::int64_t columns : {1, 7, 8, 63, 64, 65, 130}) {
    const auto [flags, shape] = drawn(3, columns);
    const Mask mask = dense(flags);
    for (std::int64_t j = 0; j < columns; ++j) {
      const int count = static_cast<int>(std::min<std::int64_t>(64, columns - j));
      const std::uint64_t bits = mask.row_bits({.b = 0, .h = 1, .i = 2, .j = j}, count, shape);
      for (int c = 0; c < count; ++c) {
        ASSERT_EQ(bits >> c & 1, flags.at({1, 2, j + c}) != 0 ? 1U : 0U) << columns << " columns, key " << j + c;
      }
      ASSERT_EQ(count == 64 ? 0 : bits >> count, 0U);
    }
  }
}

TEST(Dense, StridesChangeNothing) {
  const auto [flags, shape] = drawn(70, 66);
  const MaskShape turned{.B = 1, .H = 2, .Tq = 66, .Tk = 70};
  const Mask mask = dense(flags);
  const Mask other = dense(flags.view().transpose(1, 2));
  for (std::int64_t i = 0; i < 70; ++i) {
    for (std::int64_t j = 0; j < 66; ++j) {
      ASSERT_EQ(mask.allows({.h = 1, .i = i, .j = j}, shape), other.allows({.h = 1, .i = j, .j = i}, turned));
    }
  }
}

// Keys of the documents [0, 100), [100, 160), [160, 200).
Tensor documents() {
  Tensor flags(DType::b8, {200, 200});
  auto* flag = static_cast<bool*>(flags.data());
  const auto document = [](std::int64_t place) { return place < 100 ? 0 : place < 160 ? 1 : 2; };
  for (std::int64_t i = 0; i < 200; ++i) {
    for (std::int64_t j = 0; j < 200; ++j) *flag++ = document(i) == document(j);
  }
  return flags;
}

TEST(Dense, TilesThatAreAllHiddenOrAllVisibleAreNotPartial) {
  const Mask mask = dense(documents());
  const MaskShape shape{.B = 1, .H = 1, .Tq = 200, .Tk = 200};
  const auto class_of = [&](std::int64_t i, std::int64_t j, std::int64_t size) {
    return mask.classify({.i_begin = i, .i_end = i + size, .j_begin = j, .j_end = j + size}, shape);
  };
  EXPECT_EQ(class_of(0, 0, 64), TileClass::full);
  EXPECT_EQ(class_of(3, 7, 90), TileClass::full);
  EXPECT_EQ(class_of(64, 64, 64), TileClass::partial);
  EXPECT_EQ(class_of(0, 101, 64), TileClass::skip);
  EXPECT_EQ(class_of(0, 99, 64), TileClass::partial);
}

TEST(Dense, TheHullHasTheKeysThatAreSeen) {
  const Mask mask = dense(documents());
  const MaskShape shape{.B = 1, .H = 1, .Tq = 200, .Tk = 200};
  const auto hull_of = [&](std::int64_t begin, std::int64_t end) {
    const KeyRange hull = mask.hull({.i_begin = begin, .i_end = end, .j_begin = 0, .j_end = 200}, shape);
    return std::pair(hull.begin, hull.end);
  };
  EXPECT_EQ(hull_of(0, 64), std::pair(std::int64_t{0}, std::int64_t{100}));
  EXPECT_EQ(hull_of(100, 160), std::pair(std::int64_t{100}, std::int64_t{160}));
  EXPECT_EQ(hull_of(159, 161), std::pair(std::int64_t{100}, std::int64_t{200}));
  const Mask hidden = dense(Tensor(DType::b8, {200, 200}));
  const KeyRange none = hidden.hull({.i_begin = 0, .i_end = 64, .j_begin = 0, .j_end = 200}, shape);
  EXPECT_EQ(none.begin, none.end);
}

TEST(Dense, APlanIsThatOfTheWords) {
  const MaskShape shape{.B = 1, .H = 1, .Tq = 200, .Tk = 200};
  const TileCounts given = TilePlan(dense(documents()), shape).counts();
  const TileCounts wanted = TilePlan(parse_mask("documents(100, 60, 40)"), shape).counts();
  EXPECT_EQ(given.skip, wanted.skip);
  EXPECT_EQ(given.full, wanted.full);
  EXPECT_EQ(given.partial, wanted.partial);
  EXPECT_EQ(given.pairs_kept, wanted.pairs_kept);
  EXPECT_GT(given.skip, 0);
}

}  // namespace
}  // namespace qkv::dense_test
