#include "qkv/kv.h"

#include <gmock/gmock.h>

#include <vector>

#include "core/error_message.h"

namespace qkv {
namespace {

using testing::ElementsAre;

TEST(ConcatTime, PutsThePastInFront) {
  const Tensor past(std::vector<float>{1, 2, 3, 4}, {1, 2, 1, 2});
  const Tensor present(std::vector<float>{5, 6, 7, 8, 9, 10, 11, 12}, {1, 2, 2, 2});
  const Tensor joined = concat_time(past, present);
  EXPECT_EQ(joined.shape(), (Shape{1, 2, 3, 2}));
  EXPECT_EQ(joined.dtype(), DType::f32);
  EXPECT_THAT(joined.to_vector(), ElementsAre(1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12));
}

TEST(ConcatTime, TakesStridedViewsAndEmptyParts) {
  const Tensor past(DType::f32, {1, 2, 0, 2});
  const Tensor present(std::vector<float>{1, 2, 3, 4}, {1, 2, 2, 1});
  EXPECT_THAT(concat_time(past, present.view().transpose(2, 3)).to_vector(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(concat_time(past, past).shape(), (Shape{1, 2, 0, 2}));
}

TEST(ConcatTime, NamesWhatDoesNotFit) {
  const auto message = [](const Tensor& past, const Tensor& present) {
    return error_message([&] { static_cast<void>(concat_time(past, present)); });
  };
  const Tensor past(DType::f32, {1, 2, 3, 4});
  EXPECT_EQ(message(Tensor(DType::f32, {2, 3, 4}), past),
            "concat_time: past: expected a shape [B, Hk, Tp, D], got [2, 3, 4]");
  EXPECT_EQ(message(past, Tensor(DType::f32, {1, 2, 3, 5})),
            "concat_time: present: expected the B, Hk and D of past [1, 2, 3, 4], got [1, 2, 3, 5]");
  EXPECT_EQ(message(past, Tensor(DType::f16, {1, 2, 3, 4})), "concat_time: present: expected f32 as past, got f16");
}

}  // namespace
}  // namespace qkv
