// f16 in variables: each element's way in and out, and parameters of 16 bits that serve x of f32.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "autograd/gradient_check.h"
#include "autograd/real.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/embedding.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/norm.h"
#include "qkv/autograd/reduce.h"

namespace qkv::half_test {
namespace {

using testing::ElementsAre;

// Of every half, as those of core convert it, one by one.
TEST(Half, IsReadAsCoreReadsIt) {
  for (std::uint32_t bits = 0; bits <= 0xFFFFU; ++bits) {
    const Half half = Half::from_bits(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(std::bit_cast<std::uint32_t>(autograd::load(half)),
              std::bit_cast<std::uint32_t>(static_cast<float>(half)))
        << bits;
  }
}

// Around every half and every tie between two, and beyond the largest.
TEST(Half, IsRoundedAsCoreRoundsIt) {
  const auto check = [](float value) {
    Half stored;
    autograd::store(stored, value);
    ASSERT_EQ(stored.bits, Half(value).bits) << value;
  };
  for (std::uint32_t bits = 0; bits < 0x7FFFU; ++bits) {
    const auto value = static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(bits)));
    const auto next = static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(bits + 1)));
    for (const float at : {value, (value + next) / 2}) {
      for (const float near : {at, std::nextafter(at, 0.0F), std::nextafter(at, 1e9F)}) {
        check(near);
        check(-near);
      }
    }
  }
  for (const float value : {65504.0F, 65519.996F, 65520.0F, 1e30F, INFINITY, 1e-30F, 1e-45F, 0x1p-25F, 0x1.8p-25F}) {
    check(value);
    check(-value);
  }
  check(std::bit_cast<float>(0x7F812345U));
}

TEST(Half, IsRoundedOnceFromF64) {
  const double just_above_a_tie = 1.0 + 0x1p-11 + 0x1p-40;
  const Variable x(Tensor(std::vector<double>{just_above_a_tie}, {1}));
  EXPECT_EQ(cast(x, DType::f16).value().at({0}), 1.0 + 0x1p-10);
  const Variable y(Tensor(std::vector<double>{1.0 + 0x1p-8 + 0x1p-40}, {1}));
  EXPECT_EQ(cast(y, DType::bf16).value().at({0}), 1.0 + 0x1p-7);
}

TEST(Half, IsComputedInF32AndRoundedOnce) {
  const Variable x(Tensor(std::vector<float>{200, 0x1p-24F}, {2}).to(DType::f16));
  EXPECT_THAT((x * x).value().to_vector(), ElementsAre(40000, 0));
  EXPECT_EQ((x * x).dtype(), DType::f16);
  EXPECT_THAT((300.0 * x).value().to_vector(), ElementsAre(60000, 300 * 0x1p-24));
  EXPECT_TRUE(std::isinf((400.0 * x).value().at({0})));  // 80000 is beyond f16
  const Variable many(Tensor(std::vector<float>(40000, 1), {40000}).to(DType::f16));
  EXPECT_EQ(mean(many).item(), 1);  // a sum that f16 could not count
}

void expect_near(const TensorView& got, const TensorView& expected, double tolerance) {
  const std::vector<double> a = got.to_vector();
  const std::vector<double> b = expected.to_vector();
  double largest = 0;
  for (const double value : b) largest = std::max(largest, std::fabs(value));
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance * largest) << i;
}

// What a product or norm of x in f32 makes of parameters of 16 bits: what it makes of the same numbers in f32, but for
// the few roundings of f32 by which products and sums fuse otherwise, and one of the gradients to their type.
void expect_served(const Operation& operation, const std::vector<Tensor>& numbers, DType dtype) {
  std::vector<Variable> coarse = {Variable::parameter(numbers[0].to(DType::f32))};
  std::vector<Variable> exact = {Variable::parameter(numbers[0].to(DType::f32))};
  for (std::size_t n = 1; n < numbers.size(); ++n) {
    coarse.push_back(Variable::parameter(numbers[n].to(dtype)));
    exact.push_back(Variable::parameter(numbers[n].to(dtype).to(DType::f32)));
  }
  const Variable out = operation(coarse);
  const Variable expected = operation(exact);
  ASSERT_EQ(out.dtype(), DType::f32);
  constexpr double kFew = 8 * 0x1p-24;
  expect_near(out.value(), expected.value(), kFew);
  const Tensor d_out = normal_numbers(9, out.shape()).to(DType::f32);
  backward(out, d_out);
  backward(expected, d_out);
  expect_near(coarse[0].gradient(), exact[0].gradient(), kFew);
  for (std::size_t n = 1; n < numbers.size(); ++n) {
    EXPECT_EQ(coarse[n].gradient().dtype(), dtype);
    expect_near(coarse[n].gradient(), exact[n].gradient(), (dtype == DType::f16 ? 0x1p-11 : 0x1p-8) + kFew);
  }
}

TEST(Half, ParametersServeXOfF32) {
  const std::vector<Tensor> matrices = {normal_numbers(1, {40, 33}), normal_numbers(2, {17, 33}),
                                        normal_numbers(3, {17})};
  const std::vector<Tensor> rows = {normal_numbers(1, {40, 33}), normal_numbers(2, {33}), normal_numbers(3, {33})};
  for (const DType dtype : {DType::f16, DType::bf16}) {
    expect_served([](const auto& v) { return linear(v[0], v[1], v[2]); }, matrices, dtype);
    expect_served([](const auto& v) { return layer_norm(v[0], v[1], v[2]); }, rows, dtype);
    expect_served([](const auto& v) { return rms_norm(v[0], v[1]); }, {rows[0], rows[1]}, dtype);
  }
}

TEST(Half, ParametersInF32ServeX) {
  const Variable x = Variable::parameter(normal_numbers(1, {4, 6}).to(DType::f16));
  const Variable weight = Variable::parameter(normal_numbers(2, {3, 6}).to(DType::f32));
  const Variable y = linear(x, weight);
  EXPECT_EQ(y.dtype(), DType::f16);
  backward(y, Tensor(y.value()));
  EXPECT_EQ(weight.gradient().dtype(), DType::f32);
  EXPECT_EQ(x.gradient().dtype(), DType::f16);
}

TEST(Half, RowsOfATableKeepTheirType) {
  const Variable table = Variable::parameter(normal_numbers(1, {5, 3}).to(DType::f16));
  const Variable rows = embedding(table, Tensor(std::vector<std::int64_t>{4, 0, 4}, {3}));
  EXPECT_EQ(rows.dtype(), DType::f16);
  backward(sum(rows));
  EXPECT_EQ(table.gradient().at({4, 0}), 2);
}

}  // namespace
}  // namespace qkv::half_test
