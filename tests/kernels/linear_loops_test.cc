// The loops of every instruction set that the machine has, held against plain sums.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/linear/loops.h"
#include "kernels/vector_loops.h"
#include "qkv/random.h"
#include "qkv/targets.h"

namespace qkv::kernels::linear::linear_loops_test {
namespace {

struct Named {
  std::string name;
  const Loops<float>* loops;
};

std::vector<Named> loops_of_this_machine() {
  std::vector<Named> all = {{"baseline", &kernels::baseline::kLoops.linear}};
  [[maybe_unused]] const auto offered = [](std::string_view target) {
    const std::vector<CpuTarget> targets = cpu_targets();
    return std::ranges::find(targets, target, &CpuTarget::name)->runs_here;
  };
#if defined(QKV_BUILDS_AVX2)
  if (offered("avx2")) all.push_back({"avx2", &kernels::avx2::kLoops.linear});
#endif
#if defined(QKV_BUILDS_AVX512)
  if (offered("avx512")) all.push_back({"avx512", &kernels::avx512::kLoops.linear});
#endif
  return all;
}

class LinearLoops : public testing::TestWithParam<Named> {};

INSTANTIATE_TEST_SUITE_P(Targets, LinearLoops, testing::ValuesIn(loops_of_this_machine()),
                         [](const auto& target) { return target.param.name; });

std::vector<float> numbers(std::int64_t count, std::uint64_t seed) {
  const Tensor x = Generator(seed).randn({count});
  const auto values = x.values<float>();
  return {values.begin(), values.end()};
}

TEST_P(LinearLoops, ExponentialIsWithinTwoUnitsOfTheLastPlace) {
  std::vector<float> x;
  for (int step = 0; step < 15'000; ++step) x.push_back(-110 + 0.0137F * static_cast<float>(step));
  for (const float value : {0.0F, -0.0F, 1e-30F, -87.4F, -103.9F, 88.7F}) x.push_back(value);
  std::vector<float> got = x;
  GetParam().loops->exponential(got.data(), static_cast<std::int64_t>(got.size()));
  for (std::size_t n = 0; n < x.size(); ++n) {
    const double want = std::exp(static_cast<double>(x[n]));
    if (want > std::numeric_limits<float>::max()) {
      EXPECT_EQ(got[n], std::numeric_limits<float>::infinity()) << x[n];
    } else {
      EXPECT_NEAR(got[n], want, 2 * 0x1p-23 * want + 0x1p-149) << x[n];
    }
  }
}

TEST_P(LinearLoops, ExponentialKnowsTheEnds) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> x = {-kInfinity, kInfinity, std::numeric_limits<float>::quiet_NaN(), 0};
  GetParam().loops->exponential(x.data(), 4);
  EXPECT_EQ(x[0], 0);
  EXPECT_EQ(x[1], kInfinity);
  EXPECT_TRUE(std::isnan(x[2]));
  EXPECT_EQ(x[3], 1);
}

// Widths of one to several blocks of columns, and rows that do not fill a block.
TEST_P(LinearLoops, ProductIsASumOverSteps) {
  for (const std::int64_t width : {16, 32, 80, 128}) {
    for (const std::int64_t rows : {1, 5, 6, 13}) {
      constexpr std::int64_t kSteps = 9;
      const std::vector<float> a = numbers(rows * kSteps, 1);
      const std::vector<float> b = numbers(kSteps * width, 2);
      std::vector<float> c(static_cast<std::size_t>(rows * width), 1.0F);
      GetParam().loops->product({.a = a.data(),
                                 .row_stride = kSteps,
                                 .step_stride = 1,
                                 .b = b.data(),
                                 .c = c.data(),
                                 .rows = rows,
                                 .steps = kSteps,
                                 .width = width});
      for (std::int64_t n = 0; n < rows * width; ++n) {
        double sum = 1;
        double magnitude = 1;
        for (std::int64_t step = 0; step < kSteps; ++step) {
          const double term = static_cast<double>(a[static_cast<std::size_t>(n / width * kSteps + step)]) *
                              static_cast<double>(b[static_cast<std::size_t>(step * width + n % width)]);
          sum += term;
          magnitude += std::fabs(term);
        }
        // kSteps products and as many sums, each rounded.
        EXPECT_NEAR(c[static_cast<std::size_t>(n)], sum, (kSteps + 1) * 0x1p-24 * magnitude);
      }
    }
  }
}

TEST(ChosenLoops, AreThoseOfTheChosenTarget) {
  const Loops<float>* chosen = &loops_for<float>();
  bool known = false;
  for (const Named& target : loops_of_this_machine()) known = known || target.loops == chosen;
  EXPECT_TRUE(known);
}

}  // namespace
}  // namespace qkv::kernels::linear::linear_loops_test
