// Products of a few rows with a weight, by each instruction set that this machine runs.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/product/few_rows_problem.h"
#include "kernels/vector_loops.h"
#include "qkv/targets.h"
#include "qkv/tensor.h"

namespace qkv::kernels::few_rows_test {
namespace {

using Run = decltype(VectorLoops::few_rows);

struct Set {
  std::string name;
  Run run;
};

std::vector<Set> sets() {
  std::vector<Set> all = {{"baseline", baseline::kLoops.few_rows}};
  for (const CpuTarget& target : cpu_targets()) {
    if (!target.runs_here) continue;
#if defined(QKV_BUILDS_AVX2)
    if (target.name == "avx2") all.push_back({"avx2", avx2::kLoops.few_rows});
#endif
#if defined(QKV_BUILDS_AVX512)
    if (target.name == "avx512") all.push_back({"avx512", avx512::kLoops.few_rows});
#endif
  }
  return all;
}

class FewRowsOn : public testing::TestWithParam<Set> {};

INSTANTIATE_TEST_SUITE_P(Sets, FewRowsOn, testing::ValuesIn(sets()), [](const auto& set) { return set.param.name; });

// N = 23 rows of the weight; NaN between the rows of the weight and around what is written.
struct Call {
  static constexpr std::int64_t kN = 23;
  static constexpr std::int64_t kGap = 3;

  Call(std::int64_t M, std::int64_t K, DType dtype) : product{.M = M, .K = K, .dtype = dtype} {
    std::mt19937_64 engine(static_cast<std::uint64_t>(M * 1000 + K));
    std::normal_distribution<float> draw;
    for (std::int64_t n = 0; n < M * K; ++n) x.push_back(draw(engine));
    std::vector<double> numbers;
    for (std::int64_t n = 0; n < kN; ++n) {
      bias.push_back(draw(engine));
      for (std::int64_t k = 0; k < K + kGap; ++k) {
        numbers.push_back(k < K ? static_cast<double>(draw(engine)) : std::numeric_limits<double>::quiet_NaN());
      }
    }
    weight = Tensor(numbers, {kN, K + kGap}).to(dtype);
    out.assign(static_cast<std::size_t>(M * (kN + 1)), std::numeric_limits<float>::quiet_NaN());
    product.x = x.data();
    product.weight = weight.view().data();
    product.weight_row = K + kGap;
    product.bias = bias.data();
    product.out = out.data();
    product.out_row = kN + 1;
  }

  // Sums of K products in f32, in any order.
  void expect_near() const {
    for (std::int64_t m = 0; m < product.M; ++m) {
      for (std::int64_t n = 0; n < kN; ++n) {
        double sum = 0;
        double size = 0;
        for (std::int64_t k = 0; k < product.K; ++k) {
          const double term = static_cast<double>(x[static_cast<std::size_t>(m * product.K + k)]) * weight.at({n, k});
          sum += term;
          size += std::fabs(term);
        }
        const double shift = product.bias == nullptr ? 0 : static_cast<double>(product.bias[n]);
        const double bound = 0x1p-24 * (static_cast<double>(product.K) + 4) * (size + std::fabs(shift));
        ASSERT_NEAR(out[static_cast<std::size_t>(m * product.out_row + n)], sum + shift, bound)
            << product.M << " rows of " << product.K << ", " << m << ", " << n;
      }
      ASSERT_TRUE(std::isnan(out[static_cast<std::size_t>(m * product.out_row + kN)]));
    }
  }

  FewRows product;
  std::vector<float> x;
  std::vector<float> bias;
  Tensor weight;
  std::vector<float> out;
};

constexpr DType kDTypes[] = {DType::f32, DType::bf16, DType::f16};

TEST_P(FewRowsOn, AreSumsOfProducts) {
  for (const DType dtype : kDTypes) {
    for (std::int64_t M = 1; M <= 10; ++M) {
      for (const std::int64_t K : {0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 40, 48, 63, 64, 65, 100}) {
        Call call(M, K, dtype);
        if (K % 2 == 0) call.product.bias = nullptr;
        GetParam().run(call.product, 0, 9);  // two tasks
        GetParam().run(call.product, 9, Call::kN);
        call.expect_near();
      }
    }
  }
}

// Whatever the number of rows and the column at which a task begins.
TEST_P(FewRowsOn, SumInAnOrderThatDependsOnKAlone) {
  for (const DType dtype : kDTypes) {
    Call all(8, 77, dtype);
    GetParam().run(all.product, 0, Call::kN);
    for (std::int64_t M = 1; M <= 8; ++M) {
      Call some(8, 77, dtype);
      some.product.M = M;
      GetParam().run(some.product, 5, Call::kN);
      for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t n = 5; n < Call::kN; ++n) {
          const auto place = static_cast<std::size_t>(m * some.product.out_row + n);
          ASSERT_EQ(some.out[place], all.out[place]) << M << " rows, " << m << ", " << n;
        }
      }
    }
  }
}

// Each half and each bf16 by itself: subnormal ones, infinities and NaN too.
TEST_P(FewRowsOn, ReadEveryNumberOf16Bits) {
  constexpr std::int64_t K = 64;
  std::vector<float> x(K, 0);
  for (const DType dtype : {DType::bf16, DType::f16}) {
    for (std::uint32_t first = 0; first <= 0xFFFFU; first += K) {
      std::vector<std::uint16_t> row;
      for (std::uint32_t n = 0; n < K; ++n) row.push_back(static_cast<std::uint16_t>(first + n));
      for (std::size_t k = 0; k < K; ++k) {
        const double number = dtype == DType::f16 ? static_cast<float>(Half::from_bits(row[k]))
                                                  : static_cast<float>(BFloat16::from_bits(row[k]));
        // The others of a special row are taken out, since 0 times an infinity is NaN.
        std::vector<std::uint16_t> one(K, 0);
        one[k] = row[k];
        x[k] = 1;
        float out = 0;
        GetParam().run({.x = x.data(),
                        .M = 1,
                        .K = K,
                        .weight = one.data(),
                        .dtype = dtype,
                        .weight_row = K,
                        .bias = nullptr,
                        .out = &out,
                        .out_row = 1},
                       0, 1);
        x[k] = 0;
        ASSERT_THAT(static_cast<double>(out), testing::NanSensitiveDoubleEq(number)) << row[k];
      }
    }
  }
}

}  // namespace
}  // namespace qkv::kernels::few_rows_test
