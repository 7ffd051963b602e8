// The AMX path in f16 with an emulated tile unit, which a machine without one can test, too. What differs from bf16 is
// the range of its weights, and subnormals.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "kernels/emulated_amx.h"
#include "kernels/fused_call.h"
#include "kernels/plain.h"
#include "qkv/info.h"
#include "qkv/targets.h"

namespace qkv::kernels::amx_f16_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void fill(Tensor& tensor, double value) { std::ranges::fill(tensor.values<Half>(), Half(static_cast<float>(value))); }

Results emulated(const Problem& problem, const TensorView& v, int threads = 1) {
  return fused_call(cpu::kEmulatedF16, problem, v, threads);
}

double largest(const Tensor& tensor) {
  double most = 0;
  for (const double number : tensor.to_vector()) most = std::isfinite(number) ? std::max(most, std::abs(number)) : most;
  return most;
}

// Twice the error of the plain computation; where that is luckier, one rounding of out at its largest and of what lse
// is made from: a score, exp, a rounded exponent.
void expect_close(const Problem& problem, const TensorView& v, int threads = 2) {
  const Results expected = exact(problem, v);
  const Results other = plain(problem, v);
  const Results result = emulated(problem, v, threads);
  const double out_bound = 2 * error_of(other.out, expected.out) + 0x1p-11 * largest(expected.out);
  const double lse_bound = 2 * error_of(other.lse, expected.lse) + 4 * 0x1p-24 * (1 + largest(expected.lse));
  EXPECT_LE(error_of(result.out, expected.out), out_bound);
  EXPECT_LE(error_of(result.lse, expected.lse), lse_bound);
}

class AmxF16 : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<CpuTarget> all = cpu_targets();
    const auto avx512 = std::ranges::find(all, "avx512", &CpuTarget::name);
    if (!avx512->runs_here) GTEST_SKIP() << "only the tile unit is emulated: the rest needs AVX-512";
  }
};

TEST_F(AmxF16, ServesAnyShape) {
  for (const Sizes& sizes :
       {Sizes{}, Sizes{.B = 2, .Hk = 2, .group = 3, .Tq = 1, .D = 7, .Dv = 1},
        Sizes{.group = 2, .Tq = 33, .Tk = 64, .D = 65, .Dv = 33}, Sizes{.Tq = 130, .Tk = 1, .D = 1, .Dv = 80},
        Sizes{.Tq = 65, .Tk = 700, .D = 64, .Dv = 64}, Sizes{.Hk = 2, .Tq = 64, .Tk = 257, .D = 128, .Dv = 96}}) {
    SCOPED_TRACE("D = " + std::to_string(sizes.D) + ", Dv = " + std::to_string(sizes.Dv));
    const NormalQkv inputs(DType::f16, sizes);
    expect_close(inputs.problem(), inputs.v);
    expect_close(inputs.problem(-0.3), inputs.v);
    expect_close(inputs.problem(0), inputs.v);
  }
}

TEST_F(AmxF16, ServesEachOption) {
  const NormalQkv inputs(DType::f16, {.B = 2, .Hk = 2, .group = 2, .Tq = 100, .Tk = 200});
  std::vector<Problem> problems;
  for (const Mask& mask : {causal(), causal() & window(40), strided(3), key_lengths({200, 77}), none(),
                           documents({50, 80, 70}), causal(Align::top_left)}) {
    problems.push_back(inputs.problem());
    problems.back().mask = mask;
  }
  problems.push_back(inputs.problem());
  problems.back().softcap = 1.5;
  problems.push_back(inputs.problem());
  problems.back().bias = alibi();
  problems.push_back(inputs.problem());
  problems.back().dropout = Dropout{.p = 0.5, .seed = 0x123456789AULL};
  problems.push_back(inputs.problem());
  problems.back().sinks = {0.5, -1, 2, 0};
  problems.push_back(problems[0]);
  problems.back().softcap = 3;
  problems.back().bias = alibi();
  problems.back().dropout = Dropout{.p = 0.2, .seed = 3};
  problems.back().sinks = {0.5, -1, 2, 30};
  for (std::size_t n = 0; n < problems.size(); ++n) {
    SCOPED_TRACE(n);
    expect_close(problems[n], inputs.v);
  }
}

TEST_F(AmxF16, ServesRandomCalls) {
  std::mt19937_64 engine(5);
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine);
  };
  for (std::uint64_t n = 0; n < 150; ++n) {
    const NormalQkv inputs(DType::f16,
                           {.B = draw(1, 2),
                            .Hk = draw(1, 2),
                            .group = draw(1, 4),
                            .Tq = draw(1, 150),
                            .Tk = draw(1, 200),
                            .D = draw(1, 100),
                            .Dv = draw(1, 100)},
                           n);
    Problem problem = inputs.problem(0.01 * static_cast<double>(draw(-50, 100)));
    if (draw(0, 2) == 0) problem.mask = problem.mask & causal();
    if (draw(0, 2) == 0) problem.mask = problem.mask & window(draw(1, 100));
    if (draw(0, 3) == 0) problem.bias = alibi();
    if (draw(0, 3) == 0) problem.softcap = 2;
    if (draw(0, 3) == 0) problem.dropout = Dropout{.p = 0.3, .seed = n};
    SCOPED_TRACE("call " + std::to_string(n));
    expect_close(problem, inputs.v);
  }
}

TEST_F(AmxF16, GivesTheSameBitsOnAnyNumberOfThreads) {
  const NormalQkv inputs(DType::f16, {.Hk = 2, .group = 2, .Tq = 300, .Tk = 300});
  const Results one = emulated(inputs.problem(), inputs.v, 1);
  for (const int threads : {2, 3}) {
    const Results many = emulated(inputs.problem(), inputs.v, threads);
    EXPECT_EQ(error_of(many.out, one.out), 0);
    EXPECT_EQ(error_of(many.lse, one.lse), 0);
  }
}

// The manual says in which order an instruction sums.
TEST_F(AmxF16, GivesTheSameBitsAsATileUnit) {
  if (std::ranges::count(cpu_instructions(), "amx-fp16") == 0) GTEST_SKIP() << "this processor has no AMX-FP16";
  for (const double scale : {0.3, 0x1p-30, 0x1p10}) {
    NormalQkv inputs(DType::f16, {.Hk = 2, .group = 2, .Tq = 100, .Tk = 333, .D = 80, .Dv = 72});
    inputs.v.set({0, 1, 3, 7}, 0x1p-24);
    Problem problem = inputs.problem(scale);
    problem.mask = causal();
    const Results expected = emulated(problem, inputs.v);
    const Results result = fused_call("amx", problem, inputs.v, 1);
    EXPECT_EQ(error_of(result.out, expected.out), 0);
    EXPECT_EQ(error_of(result.lse, expected.lse), 0);
  }
}

// One key: the result is its value, which must come back as it is.
TEST_F(AmxF16, KeepsSubnormalAndHugeValues) {
  NormalQkv inputs(DType::f16, {.Tk = 1, .Dv = 8});
  inputs.v.store_row(std::vector<std::int64_t>{0, 0, 0},
                     std::vector<double>{0, 0x1p-24, -0x1.8p-20, 65504, -0.1, 1, 3, 0x1p-14});
  const Tensor out = emulated(inputs.problem(), inputs.v).out;
  for (std::int64_t i = 0; i < inputs.sizes.Tq; ++i) {
    EXPECT_EQ(error_of(out.view().slice(2, i, i + 1), inputs.v), 0);
  }
}

TEST_F(AmxF16, CountsSubnormalKeys) {
  NormalQkv inputs(DType::f16);
  for (auto* tensor : {&inputs.q, &inputs.k}) {
    const Tensor wide = tensor->to(DType::f64);
    for (std::int64_t n = 0; n < wide.size(); ++n) {
      const double factor = tensor == &inputs.q ? 0x1p8 : 0x1p-20;
      tensor->values<Half>()[static_cast<std::size_t>(n)] =
          Half(static_cast<float>(factor * wide.values<double>()[static_cast<std::size_t>(n)]));
    }
  }
  expect_close(inputs.problem(0x1p12), inputs.v);
}

TEST_F(AmxF16, KeepsTheLargestScoresFinite) {
  NormalQkv inputs(DType::f16, {.D = 512});
  fill(inputs.q, 65504);
  fill(inputs.k, 65504);
  expect_close(inputs.problem(1), inputs.v);
  expect_close(inputs.problem(-1), inputs.v);
  inputs.k.set({0, 0, 130, 17}, 65472);
  expect_close(inputs.problem(1), inputs.v);
}

// Each tile's scores stand above the maximum so far, by less than what raises it, and by more.
TEST_F(AmxF16, KeepsWeightsAboveTheirMaximum) {
  for (const double step : {0.5, 2.0, 5.0, 5.5, 6.0, 11.0}) {
    SCOPED_TRACE(step);
    NormalQkv inputs(DType::f16, {.Tk = 1000, .D = 32});
    fill(inputs.q, 1);
    fill(inputs.k, 0);
    for (std::int64_t j = 0; j < 1000; ++j) inputs.k.set({0, 0, j, 3}, step * static_cast<double>(j >> 6));
    expect_close(inputs.problem(1), inputs.v);
    Problem dropped = inputs.problem(1);
    dropped.dropout = Dropout{.p = 0.5, .seed = 9};
    expect_close(dropped, inputs.v);
  }
}

// 2^15 lies between two neighbouring scores, and 8 in exponents of 2 is a little more than half of that.
TEST_F(AmxF16, RaisesAMaximumThatASmallStepCannotReach) {
  NormalQkv inputs(DType::f16, {.Tk = 128, .D = 512});
  fill(inputs.q, 0x1p15);
  fill(inputs.k, 0x1p15);
  for (std::int64_t i = 0; i < inputs.sizes.Tq; ++i) inputs.q.set({0, 0, i, 0}, 0x1p10);
  for (std::int64_t j = 0; j < 128; ++j) inputs.k.set({0, 0, j, 0}, j < 64 ? 0 : 32);
  expect_close(inputs.problem(15.9 / 0x1p15 / std::numbers::log2e), inputs.v);
}

// 4,000 keys whose weights would be subnormal f16 numbers of four bits.
TEST_F(AmxF16, KeepsALongTail) {
  NormalQkv inputs(DType::f16, {.Tk = 4001});
  fill(inputs.q, 1);
  fill(inputs.k, 0);
  fill(inputs.v, 1);
  inputs.k.set({0, 0, 0, 0}, 14);  // exp(-14) is 1.74 * 2^-21
  for (std::int64_t d = 0; d < inputs.sizes.Dv; ++d) inputs.v.set({0, 0, 0, d}, 0);
  expect_close(inputs.problem(1), inputs.v);
}

TEST_F(AmxF16, KeepsNanAndInfinityWhereTheyAreVisible) {
  NormalQkv inputs(DType::f16);
  inputs.k.set({0, 0, 90, 3}, kNan);
  inputs.v.set({0, 0, 110, 5}, kNan);
  inputs.v.set({0, 0, 120, 6}, kInfinity);
  inputs.v.set({0, 0, 125, 7}, -kInfinity);
  inputs.q.set({0, 0, 30, 0}, kInfinity);
  for (const std::int64_t width : {131, 20}) {
    Problem problem = inputs.problem();
    problem.mask = causal() & window(width);
    const Results expected = exact(problem, inputs.v);
    const Results result = emulated(problem, inputs.v);
    EXPECT_LT(error_of(result.out, expected.out), 0x1p-9);
    EXPECT_LT(error_of(result.lse, expected.lse), 1e-5);
  }
}

}  // namespace
}  // namespace qkv::kernels::amx_f16_test
