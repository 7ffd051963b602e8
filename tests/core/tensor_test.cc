#include "qkv/tensor.h"

#include <gmock/gmock.h>

#include <array>
#include <bit>

#include "core/error_message.h"

namespace qkv::tensor_test {
namespace {

using testing::ElementsAre;

Tensor counted(const Shape& shape) {
  Tensor tensor(DType::f32, shape);
  float next = 0;
  for (float& value : tensor.values<float>()) value = next++;
  return tensor;
}

TEST(Tensor, ViewsShareElementsThroughStrides) {
  const Tensor tensor = counted({2, 3});
  EXPECT_THAT(tensor.view().transpose(0, 1).to_vector(), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(tensor.view().slice(1, 1, 3).to_vector(), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(tensor.view().select(0, 1).to_vector(), ElementsAre(3, 4, 5));
}

TEST(Tensor, BroadcastsRightAligned) {
  const Tensor row = counted({3});
  EXPECT_THAT(row.view().broadcast_to({2, 3}).to_vector(), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THROW((void)row.view().broadcast_to({2, 4}), InvalidArgument);
}

TEST(Tensor, CopiesConvertWithOneRounding) {
  const Tensor doubles(std::vector<double>{1.0 + 0x1p-11 + 0x1p-40}, {1});
  EXPECT_EQ(doubles.to(DType::f16).at({0}), 1.0 + 0x1p-10);
}

TEST(Tensor, NamesWhatWasExpectedAndWhatCame) {
  Tensor tensor = counted({2, 3});
  EXPECT_EQ(error_message([] { (void)Tensor(std::vector<float>{1, 2}, {3}); }),
            "Tensor: values: expected 3 of them for [3], got 2");
  EXPECT_EQ(error_message([&] { (void)std::move(tensor).reshaped({7}); }),
            "Tensor::reshaped: shape: expected 6 elements, got [7]");
  EXPECT_EQ(error_message([&] { tensor.set({2, 0}, 1); }),
            "TensorView: index: expected an index inside [2, 3], got [2, 0]");
  EXPECT_EQ(error_message([&] { tensor.store_row(std::array<std::int64_t, 1>{0}, std::vector<double>(4)); }),
            "MutableTensorView::store_row: row: expected 3 places, got 4");
  EXPECT_EQ(error_message([&] { (void)tensor.values<double>(); }), "TensorView: dtype: expected f64, got f32");
}

TEST(Tensor, ErrorsNameTheArgument) {
  try {
    (void)counted({2, 3}).view().reshape({7});
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.argument(), "shape");
  }
}

TEST(Tensor, StartsAtZeroOnA64ByteBoundary) {
  const Tensor tensor(DType::f64, {3, 5});
  EXPECT_THAT(tensor.to_vector(), testing::Each(0));
  EXPECT_EQ(std::bit_cast<std::uintptr_t>(tensor.data()) % 64, 0U);
}

TEST(Tensor, MovingLeavesAnEmptyOneBehind) {
  Tensor from = counted({2, 3});
  const Tensor to = std::move(from);
  EXPECT_EQ(to.size(), 6);
  EXPECT_TRUE(from.empty());  // NOLINT(bugprone-use-after-move): what is left behind is promised
  EXPECT_EQ(from.size(), 0);
  EXPECT_TRUE(from.to_vector().empty());
  const Tensor copy = from;
  EXPECT_TRUE(copy.empty());
}

TEST(Tensor, CopiesOwnTheirElements) {
  Tensor first = counted({2});
  Tensor second = first;
  second.set({0}, 9);
  EXPECT_EQ(first.at({0}), 0);
  first = second;
  EXPECT_EQ(first.at({0}), 9);
}

TEST(Tensor, WritesRoundToTheDtype) {
  Tensor tensor(DType::bf16, {2, 2});
  tensor.store_row(std::array<std::int64_t, 1>{1}, std::vector<double>{1.0 + 0x1p-8, 1.0 + 3 * 0x1p-8});
  EXPECT_THAT(tensor.to_vector(), ElementsAre(0, 0, 1.0, 1.0 + 0x1p-6));
}

TEST(Tensor, KeepsLargeIntegersWhole) {
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  const Tensor tensor(std::vector<std::int64_t>{0, large}, {2});
  const Tensor copy(tensor.view().slice(0, 1, 2));
  EXPECT_EQ(copy.values<std::int64_t>()[0], large);
}

}  // namespace
}  // namespace qkv::tensor_test
