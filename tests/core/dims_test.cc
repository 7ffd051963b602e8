#include <gmock/gmock.h>

#include "core/error_message.h"
#include "qkv/tensor.h"

namespace qkv::dims_test {
namespace {

TEST(Dims, MultiplyAndPrint) {
  EXPECT_EQ((Dims{2, 8, 128, 64}).product(), 131072);
  EXPECT_EQ(Dims{}.product(), 1);
  EXPECT_EQ((Dims{3, 0, 5}).product(), 0);
  EXPECT_EQ((Dims{2, -1}).to_string(), "[2, -1]");
  EXPECT_EQ(Dims{}.to_string(), "[]");
}

TEST(Dims, CompareByRankAndEntries) {
  EXPECT_EQ((Dims{2, 3}), (Dims{2, 3}));
  EXPECT_NE((Dims{2, 3}), (Dims{2, 3, 1}));
  EXPECT_NE(Dims{0}, Dims{});
}

TEST(Dims, LoseAndGainAnAxis) {
  EXPECT_EQ((Dims{2, 3, 4}).without(1), (Dims{2, 4}));
  EXPECT_EQ((Dims{2, 4}).inserted(0, 7), (Dims{7, 2, 4}));
  EXPECT_EQ((Dims{2, 4}).inserted(2, 7), (Dims{2, 4, 7}));
}

TEST(Dims, RefuseWhatCannotBeAShape) {
  EXPECT_EQ(error_message([] { (void)(Dims{1, 1, 1, 1, 1, 1, 1, 1, 1}); }),
            "Dims: rank: expected at most 8 axes, got 9 or more");
  EXPECT_EQ(error_message([] { (void)(Dims{2, -1}).product(); }),
            "Dims: shape: expected extents of 0 or more, got [2, -1]");
  constexpr std::int64_t kHuge = std::int64_t{1} << 32;
  EXPECT_EQ(error_message([] { (void)(Dims{kHuge, kHuge}).product(); }),
            "Dims: shape: expected fewer than 2^63 elements, got [4294967296, 4294967296]");
}

// A zero extent must not hide strides that overflow.
TEST(Dims, OverflowIsSeenBehindAnExtentOfZero) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  EXPECT_EQ(error_message([] { (void)contiguous_strides({0, kHuge, kHuge}); }),
            "Dims: shape: expected fewer than 2^63 elements, got [0, 1099511627776, 1099511627776]");
}

TEST(Dims, DenseStridesAreRowMajor) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Strides{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (Strides{4, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Strides{});
}

}  // namespace
}  // namespace qkv::dims_test
