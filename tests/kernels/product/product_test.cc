// Products of views: every way through them, beside sums in f64.
#include "kernels/product/product.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "qkv/threads.h"

namespace qkv::kernels::product_test {
namespace {

Tensor numbers(std::uint64_t seed, const Shape& shape, DType dtype) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> draw;
  std::vector<double> all(static_cast<std::size_t>(shape.product()));
  for (double& number : all) number = draw(engine);
  return Tensor(all, shape).to(dtype);
}

std::vector<double> row_of(const TensorView& x, std::int64_t batch, std::int64_t row) {
  std::vector<double> numbers(static_cast<std::size_t>(x.dim(-1)));
  if (x.rank() == 2) {
    x.load_row(std::vector<std::int64_t>{row}, numbers);
  } else {
    x.load_row(std::vector<std::int64_t>{batch, row}, numbers);
  }
  return numbers;
}

// out [B, M, N] or [M, N] of a and b that broadcast to it: sums of K products in f32, and one rounding to out's dtype.
void expect_product(const TensorView& out, const TensorView& a, const TensorView& b, const TensorView* bias) {
  const Shape batch = out.rank() == 3 ? Shape{out.dim(0)} : Shape{};
  const auto over_batch = [&](const TensorView& x) {
    return batch.rank() == 0 ? x : x.broadcast_to({out.dim(0), x.dim(-2), x.dim(-1)});
  };
  const TensorView left = over_batch(a);
  const TensorView right = over_batch(b).transpose(-1, -2);
  const double summed = a.dtype() == DType::f64 ? 0x1p-53 : 0x1p-24;
  const double rounded = out.dtype() == DType::bf16 ? 0x1p-8 : out.dtype() == DType::f16 ? 0x1p-11 : 0;
  for (std::int64_t n = 0; n < batch.product(); ++n) {
    for (std::int64_t i = 0; i < out.dim(-2); ++i) {
      const std::vector<double> x = row_of(left, n, i);
      const std::vector<double> got = row_of(out, n, i);
      for (std::int64_t j = 0; j < out.dim(-1); ++j) {
        const std::vector<double> y = row_of(right, n, j);
        double sum = bias == nullptr ? 0 : bias->at({j});
        double size = std::fabs(sum);
        for (std::size_t k = 0; k < x.size(); ++k) {
          sum += x[k] * y[k];
          size += std::fabs(x[k] * y[k]);
        }
        const double bound = summed * static_cast<double>(x.size() + 4) * size + rounded * (std::fabs(sum) + 0x1p-13);
        ASSERT_NEAR(got[static_cast<std::size_t>(j)], sum, bound) << n << ", " << i << ", " << j;
      }
    }
  }
}

struct Case {
  const char* name;
  Shape a, b, out;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"few rows", {3, 70}, {70, 33}, {3, 33}},           {"many rows", {50, 65}, {65, 40}, {50, 40}},
      {"rows in pieces", {800, 90}, {90, 17}, {800, 17}}, {"columns in pieces", {20, 90}, {90, 900}, {20, 900}},
      {"a batch", {4, 12, 20}, {4, 20, 9}, {4, 12, 9}},   {"one matrix for a batch", {4, 12, 20}, {20, 9}, {4, 12, 9}},
      {"a sum of no terms", {12, 0}, {0, 5}, {12, 5}},
  };
  return kCases;
}

constexpr DType kDTypes[] = {DType::f64, DType::f32, DType::bf16, DType::f16};

TEST(Product, IsSumsOfProducts) {
  for (const Case& of : cases()) {
    for (const DType dtype : kDTypes) {
      SCOPED_TRACE(std::string(of.name) + ", " + std::string(name_of(dtype)));
      const Tensor a = numbers(1, of.a, dtype);
      const Tensor b = numbers(2, of.b, dtype);
      const Tensor bias = numbers(3, {of.out[of.out.rank() - 1]}, dtype);
      Tensor out = Tensor(dtype, of.out);
      multiply(out, a.view(), b.view());
      expect_product(out.view(), a.view(), b.view(), nullptr);
      const TensorView shift = bias.view();
      multiply(out, a.view(), b.view(), &shift);
      expect_product(out.view(), a.view(), b.view(), &shift);
    }
  }
}

// Transposed operands are read as they lie; of others, a copy is made.
TEST(Product, ReadsAnyStrides) {
  for (const DType dtype : kDTypes) {
    const Tensor a = numbers(1, {30, 20}, dtype);
    const Tensor b = numbers(2, {14, 30}, dtype);
    Tensor out(dtype, {20, 14});
    multiply(out, a.view().transpose(0, 1), b.view().transpose(0, 1));
    expect_product(out.view(), a.view().transpose(0, 1), b.view().transpose(0, 1), nullptr);
    const Tensor wide = numbers(3, {20, 30, 2}, dtype);
    multiply(out, wide.view().select(2, 1), b.view().transpose(0, 1));
    expect_product(out.view(), wide.view().select(2, 1), b.view().transpose(0, 1), nullptr);
  }
}

// As for the gradient of a weight: A along its columns.
TEST(Product, IsOfALongSum) {
  const Tensor a = numbers(1, {1500, 24}, DType::f32);
  const Tensor b = numbers(2, {1500, 40}, DType::f32);
  Tensor out(DType::f32, {24, 40});
  multiply(out, a.view().transpose(0, 1), b.view());
  expect_product(out.view(), a.view().transpose(0, 1), b.view(), nullptr);
}

TEST(Product, WritesF32OfFactorsOf16Bits) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Tensor a = numbers(1, {40, 65}, dtype);
    const Tensor b = numbers(2, {65, 30}, dtype);
    Tensor out(DType::f32, {40, 30});
    multiply(out, a.view(), b.view());
    expect_product(out.view(), a.view(), b.view(), nullptr);
  }
}

TEST(Product, HasTheSameBitsOnAnyNumberOfThreads) {
  const int before = threads();
  for (const Case& of : cases()) {
    for (const DType dtype : kDTypes) {
      const Tensor a = numbers(1, of.a, dtype);
      const Tensor b = numbers(2, of.b, dtype);
      std::vector<double> alone;
      for (const int count : {1, 2, 5}) {
        set_threads(count);
        Tensor out(dtype, of.out);
        multiply(out, a.view(), b.view());
        if (count == 1) alone = out.to_vector();
        EXPECT_EQ(out.to_vector(), alone) << of.name << ", " << name_of(dtype) << ", threads: " << count;
      }
    }
  }
  set_threads(before);
}

}  // namespace
}  // namespace qkv::kernels::product_test
