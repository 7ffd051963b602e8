#include "qkv/kv.h"

#include <gmock/gmock.h>

#include <vector>

#include "core/error_message.h"

namespace qkv::kv_test {
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

TEST(ScatterTime, WritesEachEntryFromItsOwnStart) {
  Tensor buffer(DType::f32, {2, 1, 4, 1});
  const Tensor update(std::vector<float>{1, 2, 3, 4}, {2, 1, 2, 1});
  scatter_time(buffer, update, {0, 2});
  EXPECT_THAT(buffer.to_vector(), ElementsAre(1, 2, 0, 0, 0, 0, 3, 4));
  scatter_time(buffer, update, {3, 1}, BeyondEnd::wrap);
  EXPECT_THAT(buffer.to_vector(), ElementsAre(2, 2, 0, 1, 0, 3, 4, 4));
}

TEST(ScatterTime, KeepsTheLastTokenOfEachPlaceInARing) {
  Tensor buffer(DType::i64, {1, 1, 2, 1});
  scatter_time(buffer, Tensor(std::vector<std::int64_t>{1, 2, 3}, {1, 1, 3, 1}), {1}, BeyondEnd::wrap);
  EXPECT_THAT(buffer.to_vector(), ElementsAre(2, 3));
}

TEST(ScatterTime, TakesAnyStridesAndLeavesTheRestAlone) {
  Tensor buffer(std::vector<float>{9, 9, 9, 9, 9, 9, 9, 9}, {1, 2, 2, 2});
  const Tensor update(std::vector<float>{1, 2, 3, 4}, {1, 2, 2, 1});
  const MutableTensorView columns = MutableTensorView(buffer).transpose(1, 3).slice(2, 0, 1);
  scatter_time(columns, update.view().transpose(1, 2).transpose(2, 3), {0});
  EXPECT_THAT(buffer.to_vector(), ElementsAre(1, 2, 9, 9, 3, 4, 9, 9));
}

TEST(ScatterTime, NamesWhatDoesNotFit) {
  const auto message = [](const Shape& shape, const Tensor& update, const std::vector<std::int64_t>& starts,
                          BeyondEnd beyond_end) {
    Tensor buffer(DType::f32, shape);
    return error_message([&] { scatter_time(buffer, update, starts, beyond_end); });
  };
  const Shape shape{2, 1, 4, 1};
  const Tensor update(DType::f32, {2, 1, 3, 1});
  EXPECT_EQ(message({2, 4, 1}, update, {0, 0}, BeyondEnd::refuse),
            "scatter_time: buffer: expected a shape [B, Hk, C, D], got [2, 4, 1]");
  EXPECT_EQ(message(shape, update.to(DType::f16), {0, 0}, BeyondEnd::refuse),
            "scatter_time: update: expected f32 as buffer, got f16");
  EXPECT_EQ(message(shape, Tensor(DType::f32, {2, 2, 3, 1}), {0, 0}, BeyondEnd::refuse),
            "scatter_time: update: expected the B, Hk and D of buffer [2, 1, 4, 1], got [2, 2, 3, 1]");
  EXPECT_EQ(message(shape, update, {0}, BeyondEnd::refuse),
            "scatter_time: starts: expected one for each of 2 batch entries, got 1");
  EXPECT_EQ(message(shape, update, {0, 2}, BeyondEnd::refuse),
            "scatter_time: starts: expected 0 to 1 for 3 tokens in a buffer of 4, got 2");
  EXPECT_EQ(message(shape, update, {-1, 0}, BeyondEnd::wrap),
            "scatter_time: starts: expected 0 to 3 for 3 tokens in a buffer of 4, got -1");
  EXPECT_EQ(message(shape, update, {0, 4}, BeyondEnd::wrap),
            "scatter_time: starts: expected 0 to 3 for 3 tokens in a buffer of 4, got 4");
}

}  // namespace
}  // namespace qkv::kv_test
