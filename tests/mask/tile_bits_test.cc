#include "mask/tile_bits.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

namespace qkv::tile_bits_test {
namespace {

RC_GTEST_PROP(TileBits, AreTransposedBitByBit, ()) {
  const auto rows = *rc::gen::container<std::array<std::uint64_t, 64>>(rc::gen::arbitrary<std::uint64_t>());
  std::array<std::uint64_t, 64> columns{};
  transpose_bits(rows.data(), columns.data());
  for (std::size_t r = 0; r < 64; ++r) {
    for (std::size_t c = 0; c < 64; ++c) RC_ASSERT((rows[r] >> c & 1U) == (columns[c] >> r & 1U));
  }
  transpose_bits(columns.data(), columns.data());
  RC_ASSERT(columns == rows);
}

TEST(TileBits, OneBitMovesAcrossTheDiagonal) {
  std::array<std::uint64_t, 64> rows{};
  rows[3] = std::uint64_t{1} << 60U;
  std::array<std::uint64_t, 64> columns{};
  transpose_bits(rows.data(), columns.data());
  EXPECT_EQ(columns[60], 8U);
  EXPECT_EQ(columns[3], 0U);
}

}  // namespace
}  // namespace qkv::tile_bits_test
