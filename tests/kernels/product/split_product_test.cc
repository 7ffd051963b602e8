// f32 products on the tile unit of bf16: their error, layouts, edges and bits.
#include "kernels/product/split_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <vector>

namespace qkv::kernels::split_product_test {
namespace {

enum class Order : std::uint8_t { rows, columns };

struct Matrices {
  SplitProduct shape;
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> bias;
};

struct Extents {
  std::int64_t M, N, K;
};

std::vector<float> numbers(std::int64_t count, std::mt19937& generator) {
  std::normal_distribution<float> normal;
  std::vector<float> all(static_cast<std::size_t>(count));
  for (float& number : all) number = normal(generator);
  return all;
}

Matrices matrices(const Extents& of, Order a, Order b, std::uint32_t seed = 7) {
  std::mt19937 generator(seed);
  return {.shape = {.M = of.M,
                    .N = of.N,
                    .K = of.K,
                    .a_row = a == Order::rows ? of.K : 1,
                    .a_column = a == Order::rows ? 1 : of.M,
                    .b_row = b == Order::rows ? of.N : 1,
                    .b_column = b == Order::rows ? 1 : of.K,
                    .c_row = of.N + 3},
          .a = numbers(of.M * of.K, generator),
          .b = numbers(of.K * of.N, generator),
          .bias = numbers(of.N, generator)};
}

constexpr float kUntouched = -77;

// C with three columns that are not its own; empty where there is no product.
std::vector<float> product(const Matrices& x, const float* bias, int threads) {
  std::vector<float> c(static_cast<std::size_t>(x.shape.M * x.shape.c_row), kUntouched);
  const std::size_t bytes = split_scratch_bytes(x.shape, threads);
  std::vector<std::byte> memory(bytes + 64);
  void* scratch = memory.data();
  std::size_t space = memory.size();
  std::align(64, bytes, scratch, space);
  const bool done =
      split_multiply(x.shape, x.a.data(), x.b.data(), bias, c.data(), threads, static_cast<std::byte*>(scratch));
  return done ? c : std::vector<float>();
}

struct Errors {
  double ours = 0;
  double plain = 0;  // of a sum in f32, a product after the other
};

Errors errors_of(const Matrices& x, std::span<const float> c, const float* bias) {
  const SplitProduct& s = x.shape;
  Errors errors;
  for (std::int64_t m = 0; m < s.M; ++m) {
    for (std::int64_t n = 0; n < s.N; ++n) {
      double exact = 0;
      float plain = 0;
      for (std::int64_t k = 0; k < s.K; ++k) {
        const float left = x.a[static_cast<std::size_t>(m * s.a_row + k * s.a_column)];
        const float right = x.b[static_cast<std::size_t>(k * s.b_row + n * s.b_column)];
        exact += static_cast<double>(left) * right;
        plain = std::fma(left, right, plain);
      }
      const float shift = bias == nullptr ? 0 : bias[n];
      exact += shift;
      plain += shift;
      errors.ours = std::max(errors.ours, std::abs(c[static_cast<std::size_t>(m * s.c_row + n)] - exact));
      errors.plain = std::max(errors.plain, std::abs(plain - exact));
    }
  }
  return errors;
}

class SplitProductTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_split()) GTEST_SKIP() << "no tile unit here, or another target is forced";
  }
};

const std::vector<Extents>& extents() {
  static const std::vector<Extents> kExtents = {{1, 1, 1},    {32, 32, 128},  {33, 31, 129},  {64, 96, 384},
                                                {70, 50, 33}, {40, 600, 130}, {45, 37, 1000}, {100, 17, 385}};
  return kExtents;
}

TEST_F(SplitProductTest, IsAsExactAsF32InEveryLayout) {
  for (const Extents& of : extents()) {
    for (const Order a : {Order::rows, Order::columns}) {
      for (const Order b : {Order::rows, Order::columns}) {
        const Matrices x = matrices(of, a, b);
        for (const float* bias : {static_cast<const float*>(nullptr), x.bias.data()}) {
          const std::vector<float> c = product(x, bias, 1);
          ASSERT_FALSE(c.empty());
          const Errors errors = errors_of(x, c, bias);
          // Where a handful of numbers is rounded once, plain may be exact by chance: half a unit of 8 is allowed.
          EXPECT_LE(errors.ours, std::max(2 * errors.plain, 0x1p-21)) << of.M << " " << of.N << " " << of.K;
        }
      }
    }
  }
}

TEST_F(SplitProductTest, KeepsDigitsOfNumbersOfAllSizes) {
  Matrices x = matrices({40, 40, 200}, Order::rows, Order::rows);
  for (std::size_t n = 0; n < x.a.size(); ++n) x.a[n] = std::ldexp(x.a[n], static_cast<int>(n % 120) - 60);
  for (std::size_t n = 0; n < x.b.size(); ++n) x.b[n] = std::ldexp(x.b[n], static_cast<int>(n % 60) - 30);
  const Errors errors = errors_of(x, product(x, nullptr, 1), nullptr);
  EXPECT_LE(errors.ours, 2 * errors.plain);
}

TEST_F(SplitProductTest, WritesItsColumnsOnly) {
  const Matrices x = matrices({33, 31, 129}, Order::rows, Order::columns);
  const std::vector<float> c = product(x, nullptr, 1);
  for (std::int64_t m = 0; m < x.shape.M; ++m) {
    for (std::int64_t n = x.shape.N; n < x.shape.c_row; ++n) {
      EXPECT_EQ(c[static_cast<std::size_t>(m * x.shape.c_row + n)], kUntouched);
    }
  }
}

TEST_F(SplitProductTest, HasTheSameBitsOnAnyNumberOfThreads) {
  for (const Extents& of : extents()) {
    const Matrices x = matrices(of, Order::columns, Order::rows);
    const std::vector<float> alone = product(x, x.bias.data(), 1);
    EXPECT_EQ(product(x, x.bias.data(), 2), alone);
    EXPECT_EQ(product(x, x.bias.data(), 5), alone);
  }
}

TEST_F(SplitProductTest, RefusesWhatHasNoParts) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float number : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 0x1p127F, -0x1p127F}) {
    Matrices x = matrices({64, 64, 130}, Order::rows, Order::rows);
    x.a[5000] = number;
    EXPECT_TRUE(product(x, nullptr, 2).empty()) << number;
    x = matrices({64, 64, 130}, Order::columns, Order::columns);
    x.b[5000] = number;
    EXPECT_TRUE(product(x, nullptr, 2).empty()) << number;
  }
  Matrices x = matrices({64, 64, 130}, Order::rows, Order::rows);
  x.a[5000] = 0x1.fffffep126F;
  EXPECT_FALSE(product(x, nullptr, 2).empty());
}

}  // namespace
}  // namespace qkv::kernels::split_product_test
