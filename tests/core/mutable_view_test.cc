// Writing into elements that somebody else owns.
#include <gmock/gmock.h>

#include <array>
#include <vector>

#include "core/error_message.h"
#include "qkv/tensor.h"

namespace qkv::mutable_view_test {
namespace {

using testing::ElementsAre;

TEST(MutableView, OfATensorWritesIntoIt) {
  Tensor tensor(DType::f32, {2, 3});
  const MutableTensorView view = tensor;
  EXPECT_EQ(view.data(), tensor.data());
  view.set({1, 2}, 5);
  view.store_row(std::array<std::int64_t, 1>{0}, std::vector<double>{1, 2, 3});
  EXPECT_THAT(tensor.to_vector(), ElementsAre(1, 2, 3, 0, 0, 5));
}

TEST(MutableView, WritesByItsStridesAndNothingElse) {
  std::vector<float> block(12, -1);
  const MutableTensorView view(block.data(), DType::f32, {2, 2}, {6, 2});
  view.store_row(std::array<std::int64_t, 1>{0}, std::vector<double>{1, 2});
  view.store_row(std::array<std::int64_t, 1>{1}, std::vector<double>{3, 4});
  EXPECT_THAT(block, ElementsAre(1, -1, 2, -1, -1, -1, 3, -1, 4, -1, -1, -1));
}

TEST(MutableView, RoundsAsATensorDoes) {
  Tensor tensor(DType::bf16, {2});
  MutableTensorView(tensor).set({0}, 1 + 0x1p-8);
  MutableTensorView(tensor).set({1}, 1 + 3 * 0x1p-8);
  EXPECT_THAT(tensor.to_vector(), ElementsAre(1, 1 + 0x1p-6));
}

TEST(MutableView, IsCutAsAViewIs) {
  Tensor tensor(DType::f64, {2, 3, 2});
  const MutableTensorView view = tensor;
  view.select(0, 1).slice(0, 1, 3).transpose(0, 1).set({1, 0}, 7);
  view.slice(0, 0, 1).select(2, 0).unsqueeze(0).set({0, 0, 2}, 8);
  EXPECT_EQ(tensor.at({1, 1, 1}), 7);
  EXPECT_EQ(tensor.at({0, 2, 0}), 8);
  EXPECT_EQ(TensorView(view).at({1, 1, 1}), 7);
}

TEST(MutableView, RefusesWhatAViewRefuses) {
  std::vector<float> block(4);
  EXPECT_EQ(error_message([&] { MutableTensorView(block.data(), DType::f32, {2, 2}, {1}); }),
            "TensorView: strides: expected one for each axis of [2, 2], got [1]");
  const MutableTensorView view(block.data(), {2, 2});
  EXPECT_EQ(error_message([&] { view.set({2, 0}, 1); }),
            "TensorView: index: expected an index inside [2, 2], got [2, 0]");
  EXPECT_EQ(error_message([&] { view.store_row(std::array<std::int64_t, 1>{0}, std::vector<double>(3)); }),
            "MutableTensorView::store_row: row: expected 2 places, got 3");
}

}  // namespace
}  // namespace qkv::mutable_view_test
