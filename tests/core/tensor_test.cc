#include "qkv/tensor.h"

#include <gmock/gmock.h>

namespace qkv {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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
  try {
    (void)counted({2, 3}).view().reshape({7});
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.argument(), "shape");
    EXPECT_THAT(error.what(), HasSubstr("expected 6 elements, got [7]"));
  }
}

}  // namespace
}  // namespace qkv
