// A packed weight: what it gives, beside the product of the weight as it lies.
#include "kernels/product/packed_weight.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/product/product.h"

namespace qkv::kernels::packed_weight_test {
namespace {

Tensor numbers(std::uint64_t seed, const Shape& shape, DType dtype) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> draw;
  std::vector<double> all(static_cast<std::size_t>(shape.product()));
  for (double& number : all) number = draw(engine);
  return Tensor(all, shape).to(dtype);
}

constexpr std::int64_t kN = 203;
constexpr std::int64_t kK = 65;

// Rows that fill a product, that leave some of it to zeros, and that need several products.
constexpr std::int64_t kRows[] = {1, 9, 16, 50, 128, 129, 300};

void expect_as_plain(const PackedWeight& packed, const Tensor& weight, const Tensor& x, const TensorView* bias) {
  const Tensor rows = x.to(DType::f32);
  const Tensor columns = weight.to(DType::f32);
  Tensor expected(DType::f32, {x.dim(0), kN});
  multiply(expected, rows.view(), columns.view().transpose(0, 1));
  Tensor out(x.dtype(), {x.dim(0), kN});
  packed.multiply(out, x.view(), bias);
  // 65 products of the order of 1, in f32, below 64 for certain; results of 16 bits are rounded twice.
  const double allowed = x.dtype() == DType::f32 ? 2 * kK * 64 * 0x1p-24 : 2 * 64 * 0x1p-8;
  for (std::int64_t m = 0; m < x.dim(0); ++m) {
    for (std::int64_t n = 0; n < kN; ++n) {
      const double shift = bias == nullptr ? 0 : bias->at({n});
      ASSERT_NEAR(out.view().at({m, n}), expected.view().at({m, n}) + shift, allowed) << m << ", " << n;
    }
  }
}

TEST(PackedWeight, GivesTheProductOfTheWeight) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Tensor weight = numbers(2, {kN, kK}, dtype);
    const auto packed = PackedWeight::of(weight.view(), dtype);
    for (const std::int64_t M : kRows) {
      SCOPED_TRACE(std::string(name_of(dtype)) + ", rows: " + std::to_string(M));
      const Tensor x = numbers(1, {M, kK}, dtype);
      const Tensor bias = numbers(3, {kN}, dtype);
      const TensorView shift = bias.view();
      expect_as_plain(*packed, weight, x, nullptr);
      expect_as_plain(*packed, weight, x, &shift);
    }
  }
}

TEST(PackedWeight, TakesRowsOfAnotherDtype) {
  const Tensor weight = numbers(2, {kN, kK}, DType::bf16);
  const auto packed = PackedWeight::of(weight.view(), DType::f32);
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Tensor bias = numbers(3, {kN}, dtype);
    const TensorView shift = bias.view();
    expect_as_plain(*packed, weight, numbers(1, {20, kK}, dtype), &shift);
  }
}

}  // namespace
}  // namespace qkv::kernels::packed_weight_test
