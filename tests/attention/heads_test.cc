#include "qkv/heads.h"

#include <gmock/gmock.h>

#include <numeric>
#include <vector>

#include "core/error_message.h"

namespace qkv::heads_test {
namespace {

Tensor counted(const Shape& shape) {
  std::vector<double> values(static_cast<std::size_t>(shape.product()));
  std::iota(values.begin(), values.end(), 0.0);
  return {values, shape};
}

TEST(Heads, SplitIsAViewOfTheSameElements) {
  const Tensor packed = counted({2, 3, 8});
  const TensorView split = split_heads(packed, 4);
  EXPECT_EQ(split.data(), packed.data());
  EXPECT_EQ(split.shape(), (Shape{2, 4, 3, 2}));
  EXPECT_EQ(split.at({1, 3, 2, 1}), packed.at({1, 2, 7}));
  EXPECT_EQ(split.at({0, 1, 2, 0}), packed.at({0, 2, 2}));
}

TEST(Heads, SplitFollowsTheStridesOfAView) {
  const Tensor packed = counted({8, 3, 2});
  const TensorView split = split_heads(packed.view().transpose(0, 2), 2);
  EXPECT_EQ(split.shape(), (Shape{2, 2, 3, 4}));
  EXPECT_EQ(split.at({1, 1, 2, 3}), packed.at({7, 2, 1}));
}

TEST(Heads, MergeUndoesSplit) {
  const Tensor packed = counted({2, 3, 8});
  const Tensor merged = merge_heads(split_heads(packed, 4));
  EXPECT_EQ(merged.shape(), packed.shape());
  EXPECT_EQ(merged.to_vector(), packed.to_vector());
}

TEST(Heads, NamesWhatDoesNotDivide) {
  const Tensor packed = counted({2, 3, 8});
  EXPECT_EQ(error_message([&] { static_cast<void>(split_heads(packed, 3)); }),
            "split_heads: heads: expected a divisor of the last axis of x, 8, got 3");
  EXPECT_EQ(error_message([&] { static_cast<void>(split_heads(packed, 0)); }),
            "split_heads: heads: expected a divisor of the last axis of x, 8, got 0");
  EXPECT_EQ(error_message([&] { static_cast<void>(split_heads(counted({3, 8}), 2)); }),
            "split_heads: x: expected a shape [B, T, H * D], got [3, 8]");
  EXPECT_EQ(error_message([&] { static_cast<void>(merge_heads(packed)); }),
            "merge_heads: x: expected a shape [B, H, T, D], got [2, 3, 8]");
}

}  // namespace
}  // namespace qkv::heads_test
