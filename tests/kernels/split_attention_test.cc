// f32 on the tile unit in three parts of bf16, beside the same by AVX-512: the error, and what cannot be split.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/fused_call.h"
#include "kernels/plain.h"

namespace qkv::kernels::split_attention_test {
namespace {

constexpr std::string_view kSplit = "amxf32";

NormalQkv inputs_of(std::int64_t Tq, std::int64_t Tk, std::int64_t D) {
  return NormalQkv(DType::f32, {.Tq = Tq, .Tk = Tk, .D = D, .Dv = D}, 7);
}

Problem problem_of(const NormalQkv& inputs) {
  return inputs.problem(1 / std::sqrt(static_cast<double>(inputs.sizes.D)));
}

class SplitAttention : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::string_view> all = fused_targets();
    if (std::ranges::find(all, kSplit) == all.end()) GTEST_SKIP() << "no tile unit";
  }
};

TEST_F(SplitAttention, ErrsNoMoreThanFusedMultiplyAdds) {
  for (const std::int64_t D : {40, 64, 128, 320}) {
    const NormalQkv inputs = inputs_of(128, 1000, D);
    const Results expected = exact(problem_of(inputs), inputs.v);
    const Results split = fused_call(kSplit, problem_of(inputs), inputs.v, 1);
    const Results fma = fused_call("avx512", problem_of(inputs), inputs.v, 1);
    SCOPED_TRACE(D);
    EXPECT_NE(error_of(split.out, fma.out), 0);  // another way was taken
    EXPECT_LE(rms_error(split.out, expected.out), rms_error(fma.out, expected.out));
  }
}

// A block of such numbers is the vector unit's.
TEST_F(SplitAttention, LeavesWhatCannotBeSplit) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float number : {infinity, -infinity, nan, 3e38F, -0x1p50F, 0x1p-51F, 1e-40F}) {
    for (Tensor NormalQkv::* const place : {&NormalQkv::q, &NormalQkv::k, &NormalQkv::v}) {
      SCOPED_TRACE(number);
      NormalQkv inputs = inputs_of(64, 200, 72);
      (inputs.*place).set({0, 0, 60, 71}, number);
      const Results split = fused_call(kSplit, problem_of(inputs), inputs.v, 1);
      const Results fma = fused_call("avx512", problem_of(inputs), inputs.v, 1);
      EXPECT_EQ(error_of(split.out, fma.out), 0);
      EXPECT_EQ(error_of(split.lse, fma.lse), 0);
    }
  }
}

// Nor do they change the bits of other blocks, whichever share a task.
TEST_F(SplitAttention, LeavesBlocksOfSuchNumbersAlone) {
  NormalQkv inputs = inputs_of(64 * 20, 100, 24);
  const Results before = fused_call(kSplit, problem_of(inputs), inputs.v, 1);
  inputs.q.set({0, 0, 64 * 9 + 5, 3}, 0x1p60F);
  const Results after = fused_call(kSplit, problem_of(inputs), inputs.v, 1);
  const auto rows = [](const Results& results, std::int64_t begin, std::int64_t end) {
    return results.out.view().slice(2, begin, end);
  };
  EXPECT_EQ(error_of(rows(after, 0, 576), rows(before, 0, 576)), 0);
  EXPECT_NE(error_of(rows(after, 576, 640), rows(before, 576, 640)), 0);
  EXPECT_EQ(error_of(rows(after, 640, 1280), rows(before, 640, 1280)), 0);
}

// At both ends of what is split, with zeros among them.
TEST_F(SplitAttention, SplitsNumbersFarFromOne) {
  for (const double size : {0x1p-49, 0x1p45}) {
    NormalQkv inputs = inputs_of(64, 300, 64);
    for (Tensor* tensor : {&inputs.q, &inputs.k, &inputs.v}) {
      for (float& x : tensor->values<float>()) {
        // NOLINTNEXTLINE(bugprone-narrowing-conversions): rounded on purpose
        x = std::fabs(x) < 0.5F ? 0.0F : static_cast<float>(x * size);
      }
    }
    Problem problem = problem_of(inputs);
    problem.scale /= size * size;
    const Results expected = exact(problem, inputs.v);
    const Results split = fused_call(kSplit, problem, inputs.v, 1);
    EXPECT_NE(error_of(split.out, fused_call("avx512", problem, inputs.v, 1).out), 0);
    EXPECT_LE(rms_error(split.out, expected.out), 4e-7 * size);
    EXPECT_LE(error_of(split.lse, expected.lse), 4e-6);
  }
}

// The second key weighs little, and its value is all there is. Scores are exact.
TEST_F(SplitAttention, KeepsThePrecisionOfSmallWeights) {
  NormalQkv inputs = inputs_of(64, 2, 32);
  for (float& x : inputs.q.values<float>()) x = 1;
  for (float& x : inputs.k.values<float>()) x = 0;
  for (float& x : inputs.v.values<float>()) x = 0;
  for (std::int64_t d = 0; d < 32; ++d) {
    inputs.k.set({0, 0, 0, d}, 2.375);  // the other key weighs exp(-76), 2^-109.6
    inputs.v.set({0, 0, 1, d}, 1.1);
  }
  Problem problem = problem_of(inputs);
  problem.scale = 1;
  const Results fma = fused_call("avx512", problem, inputs.v, 1);
  const Results split = fused_call(kSplit, problem, inputs.v, 1);
  EXPECT_LE(error_of(split.out, fma.out), 0x1p-109 * 0x1p-22);
}

}  // namespace
}  // namespace qkv::kernels::split_attention_test
