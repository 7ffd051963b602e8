// Attention into memory of the caller's, with the caller's scratch.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "attention/fused_call.h"
#include "core/error_message.h"
#include "qkv/attention.h"

namespace qkv::testing_attention::into_test {
namespace {

using testing::Each;
using testing::HasSubstr;

std::vector<std::string> all_targets() {
  std::vector<std::string> names = fused_targets();
  names.emplace_back("reference");
  return names;
}

class Into : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] AttentionOptions options() const { return {.mask = causal(), .target = GetParam()}; }

  Qkv inputs_ = inputs_of({.B = 2, .H = 4, .Tq = 70, .Tk = 80}, {.Hk = 2, .D = 8, .Dv = 6}, DType::f32);
};

INSTANTIATE_TEST_SUITE_P(Targets, Into, testing::ValuesIn(all_targets()),
                         [](const auto& target) { return target.param; });

TEST_P(Into, GivesWhatAttentionGives) {
  const AttentionResult expected = attention(inputs_.q, inputs_.k, inputs_.v, options());
  Tensor out(DType::f32, {2, 4, 70, 6});
  Tensor lse(DType::f32, {2, 4, 70});
  attention_into(out, lse, inputs_.q, inputs_.k, inputs_.v, options());
  EXPECT_EQ(out.to_vector(), expected.out.to_vector());
  EXPECT_EQ(lse.to_vector(), expected.lse.to_vector());
}

// [B, T, H * D] with room around each row, as a layer has it; lse as [B, T, H].
TEST_P(Into, WritesBetweenStridesAndNowhereElse) {
  constexpr float kUntouched = -12345;
  std::vector<float> block(2 * 70 * 40, kUntouched);
  std::vector<float> lse_block(2 * 70 * 4, kUntouched);
  const MutableTensorView out(block.data() + 5, DType::f32, {2, 4, 70, 6}, {70 * 40, 8, 40, 1});
  const MutableTensorView lse(lse_block.data(), DType::f32, {2, 4, 70}, {280, 1, 4});
  const AttentionResult expected = attention(inputs_.q, inputs_.k, inputs_.v, options());
  attention_into(out, lse, inputs_.q, inputs_.k, inputs_.v, options());
  EXPECT_EQ(out.view().to_vector(), expected.out.to_vector());
  EXPECT_EQ(lse.view().to_vector(), expected.lse.to_vector());
  const auto elements = static_cast<std::size_t>(out.size());
  EXPECT_EQ(std::ranges::count(block, kUntouched), block.size() - elements);
  EXPECT_EQ(std::ranges::count(lse_block, kUntouched), 0);
}

TEST_P(Into, TakesScratchOfTheSizeThatIsAskedFor) {
  const AttentionResult expected = attention(inputs_.q, inputs_.k, inputs_.v, options());
  // Another last stride, so that scratch holds a copy too.
  const Tensor wide = Tensor(inputs_.q.view().transpose(2, 3));
  const TensorView q = wide.view().transpose(2, 3);
  const std::size_t bytes = attention_scratch_bytes(q, inputs_.k, inputs_.v, options());
  std::vector<std::byte> block(bytes + 3, std::byte{0xA5});
  AttentionOptions with_scratch = options();
  with_scratch.scratch = std::span(block).subspan(1, bytes);  // of any alignment
  const AttentionResult result = attention(q, inputs_.k, inputs_.v, with_scratch);
  EXPECT_EQ(result.out.to_vector(), expected.out.to_vector());
  EXPECT_EQ(block.front(), std::byte{0xA5});
  EXPECT_THAT(std::span(block).last(2), Each(std::byte{0xA5}));
}

TEST_P(Into, TakesNoScratchForThreadsWithoutWork) {
  const Tensor long_enough(DType::f32, {1, 2, 64, 64});  // a task for each head
  const Tensor too_short(DType::f32, {1, 2, 16, 64});    // to wake a thread would take longer
  const auto bytes = [&](int threads, const Tensor& x) {
    AttentionOptions own = options();
    own.threads = threads;
    return attention_scratch_bytes(x, x, x, own);
  };
  if (bytes(1, long_enough) == 0) GTEST_SKIP() << "this target needs no scratch";
  EXPECT_GT(bytes(2, long_enough), bytes(1, long_enough));
  EXPECT_EQ(bytes(64, long_enough), bytes(2, long_enough));
  EXPECT_EQ(bytes(64, too_short), bytes(1, too_short));
}

TEST_P(Into, SaysHowMuchScratchIsMissing) {
  const std::size_t bytes = attention_scratch_bytes(inputs_.q, inputs_.k, inputs_.v, options());
  if (bytes == 0) GTEST_SKIP() << "this target needs no scratch";
  for (const std::size_t given : {std::size_t{1}, bytes - 1}) {
    std::vector<std::byte> block(given);
    AttentionOptions with_scratch = options();
    with_scratch.scratch = block;
    Tensor out(DType::f32, {2, 4, 70, 6});
    Tensor lse(DType::f32, {2, 4, 70});
    EXPECT_EQ(
        error_message([&] { attention_into(out, lse, inputs_.q, inputs_.k, inputs_.v, with_scratch); }),
        "attention_into: scratch: expected " + std::to_string(bytes) + " bytes or more, got " + std::to_string(given));
    EXPECT_THAT(out.to_vector(), Each(0));
  }
}

TEST_P(Into, ServesCallersAtOnce) {
  const AttentionResult expected = attention(inputs_.q, inputs_.k, inputs_.v, options());
  std::array<bool, 4> same{};
  std::vector<std::jthread> callers;
  for (bool& answer : same) {
    callers.emplace_back([&] {
      AttentionOptions own = options();
      own.threads = 2;
      answer = true;
      for (int round = 0; round < 5; ++round) {
        const AttentionResult result = attention(inputs_.q, inputs_.k, inputs_.v, own);
        answer = answer && result.out.to_vector() == expected.out.to_vector();
      }
    });
  }
  callers.clear();
  EXPECT_THAT(same, Each(true));
}

// 64 f32 for everything, so that a test can let two views reach over the same bytes.
class Refused : public testing::Test {
 protected:
  static constexpr std::size_t kFloats = 64;

  [[nodiscard]] MutableTensorView at(std::size_t first, const Shape& shape) { return {block_.data() + first, shape}; }
  [[nodiscard]] std::string message(const MutableTensorView& out, const MutableTensorView& lse,
                                    const AttentionOptions& options = {}) {
    const std::vector<float> before = block_;
    std::string text = error_message([&] { attention_into(out, lse, q_, k_, v_, options); });
    EXPECT_EQ(block_, before) << "something was written";
    return text;
  }

  std::vector<float> block_ = std::vector<float>(kFloats, 1);
  TensorView q_ = at(0, {1, 1, 2, 4});
  TensorView k_ = at(8, {1, 1, 3, 4});
  TensorView v_ = at(20, {1, 1, 3, 2});
  MutableTensorView out_ = at(32, {1, 1, 2, 2});
  MutableTensorView lse_ = at(40, {1, 1, 2});
};

TEST_F(Refused, AnotherShapeOrType) {
  EXPECT_EQ(message(at(32, {1, 1, 2, 3}), lse_),
            "attention_into: out: expected the shape [1, 1, 2, 2], got [1, 1, 2, 3]");
  EXPECT_EQ(message(out_, at(40, {1, 1, 2, 1})), "attention_into: lse: expected the shape [1, 1, 2], got [1, 1, 2, 1]");
  Tensor half(DType::f16, {1, 1, 2, 2});
  EXPECT_EQ(message(half, lse_), "attention_into: out: expected f32, got f16");
  Tensor narrow(DType::f16, {1, 1, 2});
  EXPECT_EQ(message(out_, narrow), "attention_into: lse: expected f32 or f64, got f16");
}

TEST_F(Refused, ElementsThatShareAPlace) {
  const auto strided = [&](const Strides& strides) {
    return message({block_.data() + 32, DType::f32, {1, 1, 2, 2}, strides}, lse_);
  };
  EXPECT_EQ(strided({4, 4, 0, 1}),
            "attention_into: out: expected strides under which no two elements share a place, got [4, 4, 0, 1]");
  EXPECT_THAT(strided({4, 4, 1, 1}), HasSubstr("no two elements share a place"));
  EXPECT_EQ(strided({4, 4, 1, 2}), "attention_into: out: expected a last stride of 1, got [4, 4, 1, 2]");
  EXPECT_THAT(message(out_, {block_.data() + 40, DType::f32, {1, 1, 2}, {0, 0, 0}}),
              HasSubstr("lse: expected strides under which no two elements share a place"));
}

TEST_F(Refused, OutputsOverInputsOrEachOther) {
  const auto overlap = [](std::string_view one, std::string_view other) {
    return "attention_into: " + std::string(one) + ": expected memory apart from that of " + std::string(other) +
           ", got some that reaches over the same bytes";
  };
  EXPECT_EQ(message(at(7, {1, 1, 2, 2}), lse_), overlap("out", "q"));
  EXPECT_EQ(message(at(16, {1, 1, 2, 2}), lse_), overlap("out", "k"));
  EXPECT_EQ(message(at(25, {1, 1, 2, 2}), lse_), overlap("out", "v"));
  EXPECT_EQ(message(out_, at(6, {1, 1, 2})), overlap("lse", "q"));
  EXPECT_EQ(message(out_, at(35, {1, 1, 2})), overlap("lse", "out"));
  // Backwards: it begins behind q and reaches into it.
  EXPECT_EQ(message({block_.data() + 30, DType::f32, {1, 1, 2, 2}, {4, 4, -24, 1}}, lse_), overlap("out", "q"));
  const auto bytes = std::as_writable_bytes(std::span(block_));
  EXPECT_EQ(message(out_, lse_, {.scratch = bytes.subspan(131, 40)}), overlap("scratch", "out"));
  EXPECT_EQ(message(out_, lse_, {.scratch = bytes.subspan(0, 1)}), overlap("scratch", "q"));
}

TEST_F(Refused, ButNotNeighbours) {
  EXPECT_EQ(message(at(26, {1, 1, 2, 2}), at(30, {1, 1, 2}), {.scale = std::nan("")}),
            "attention_into: scale: expected a finite number, got nan");
  attention_into(at(26, {1, 1, 2, 2}), at(30, {1, 1, 2}), q_, k_, v_);
  EXPECT_EQ(block_[26], 1);
}

}  // namespace
}  // namespace qkv::testing_attention::into_test
