// Every target's kernel against the reference: what each instruction set has to get right on its own, from tails and
// conversions to NaN and the random words of dropout.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cpu/forward.h"
#include "kernels/fused_call.h"
#include "kernels/plain.h"

namespace qkv::kernels::each_target_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Options {
  std::optional<double> softcap = std::nullopt;
  Bias bias = {};
  Mask mask = {};
  std::optional<Dropout> dropout = std::nullopt;
  std::vector<double> sinks = {};
};

Problem with(const NormalQkv& inputs, const Options& options) {
  Problem problem = inputs.problem();
  problem.softcap = options.softcap;
  problem.bias = options.bias;
  problem.mask = options.mask;
  problem.dropout = options.dropout;
  problem.sinks = options.sinks;
  return problem;
}

// Twice the error of the plain computation; one rounding of the largest number stands in where that is luckier.
double bound_of(const Tensor& plain_result, const Tensor& expected) {
  double largest = 0;
  for (const double number : expected.to_vector()) {
    if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
  }
  return 2 * std::max(error_of(plain_result, expected), 0x1p-24 * largest);
}

class EachTarget : public testing::TestWithParam<std::string_view> {
 public:
  static void expect_close(const Problem& problem, const TensorView& v) {
    const Results expected = exact(problem, v);
    const Results other = plain(problem, v);
    const Results result = fused_call(GetParam(), problem, v, 2);
    EXPECT_LE(error_of(result.out, expected.out), bound_of(other.out, expected.out));
    EXPECT_LE(error_of(result.lse, expected.lse), bound_of(other.lse, expected.lse));
  }

  // Where plain arithmetic would let a hidden NaN through, only what is finite and what is not.
  static void expect_same_kinds(const Problem& problem, const TensorView& v) {
    const Results expected = exact(problem, v);
    const Results result = fused_call(GetParam(), problem, v, 1);
    EXPECT_LT(error_of(result.out, expected.out), 1e-5);
    EXPECT_LT(error_of(result.lse, expected.lse), 1e-5);
  }
};
INSTANTIATE_TEST_SUITE_P(Targets, EachTarget, testing::ValuesIn(fused_targets()),
                         [](const auto& target) { return std::string(target.param); });

TEST_P(EachTarget, ServesEachDtypeAndOddWidths) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const Sizes& sizes : {Sizes{}, Sizes{.Hk = 2, .group = 3, .Tq = 1, .D = 7, .Dv = 1},
                               Sizes{.group = 2, .Tq = 33, .Tk = 64, .D = 65, .Dv = 33}}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + ", D = " + std::to_string(sizes.D));
      const NormalQkv inputs(dtype, sizes);
      expect_close(with(inputs, {}), inputs.v);
    }
  }
}

TEST_P(EachTarget, ServesEachOption) {
  const NormalQkv inputs(DType::f32, {.Hk = 2, .group = 2});
  expect_close(with(inputs, {.mask = causal() & window(40)}), inputs.v);
  expect_close(with(inputs, {.softcap = 1.5}), inputs.v);
  expect_close(with(inputs, {.bias = alibi()}), inputs.v);
  expect_close(with(inputs, {.dropout = Dropout{.p = 0.4, .seed = 0x123456789AULL}}), inputs.v);
  expect_close(with(inputs, {.sinks = {0.5, -1, 2, 0}}), inputs.v);
}

TEST_P(EachTarget, RoundsToNearestEvenAndKeepsNan) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    // One key: the result is its value, which must come back as it is, subnormal, huge or not a number.
    Tensor v(DType::f64, {1, 1, 1, 8});
    v.store_row(std::vector<std::int64_t>{0, 0, 0},
                std::vector<double>{0, 0x1p-24, -0x1.8p-20, 65504, -0.1, 1, 3, 0x1p-14});
    const NormalQkv inputs(dtype, {.Tq = 1, .Tk = 1, .Dv = 8});
    const Tensor stored = v.to(dtype);
    EXPECT_EQ(error_of(fused_call(GetParam(), with(inputs, {}), stored, 1).out, stored), 0);
    Tensor broken = stored;
    broken.set({0, 0, 0, 3}, kNan);
    broken.set({0, 0, 0, 4}, -kInfinity);
    EXPECT_EQ(error_of(fused_call(GetParam(), with(inputs, {}), broken, 1).out, broken), 0);
  }
}

TEST_P(EachTarget, KeepsNanAndInfinityWhereTheyAreVisible) {
  NormalQkv inputs(DType::f32);
  inputs.k.set({0, 0, 90, 3}, kNan);  // seen by the queries that stand at 90 and behind it
  inputs.v.set({0, 0, 110, 5}, kNan);
  inputs.v.set({0, 0, 120, 6}, kInfinity);
  inputs.q.set({0, 0, 30, 0}, kInfinity);
  for (const std::int64_t window_width : {131, 20}) {
    expect_same_kinds(with(inputs, {.mask = causal() & window(window_width)}), inputs.v);
    expect_same_kinds(with(inputs, {.softcap = 2.0, .mask = causal() & window(window_width)}), inputs.v);
    expect_same_kinds(with(inputs, {.bias = alibi(), .mask = causal() & window(window_width)}), inputs.v);
  }
}

TEST_P(EachTarget, KeepsHugeScoresFinite) {
  NormalQkv inputs(DType::f32);
  for (float& value : inputs.q.values<float>()) value *= 1e15F;
  for (float& value : inputs.k.values<float>()) value *= 1e15F;
  expect_close(with(inputs, {.mask = prefix(1)}), inputs.v);
  for (const double element : fused_call(GetParam(), with(inputs, {}), inputs.v, 1).out.to_vector()) {
    EXPECT_TRUE(std::isfinite(element));
  }
}

}  // namespace
}  // namespace qkv::kernels::each_target_test
