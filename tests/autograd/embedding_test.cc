#include "qkv/autograd/embedding.h"

#include <gmock/gmock.h>

#include <cmath>

#include "autograd/gradient_check.h"
#include "core/error_message.h"

namespace qkv {
namespace {

using testing::IsEmpty;

Operation rows_of(const Tensor& ids) {
  return [ids](const std::vector<Variable>& x) { return embedding(x[0], ids); };
}

TEST(Embedding, HasTheGradientOfCentralDifferences) {
  const Tensor ids(std::vector<std::int64_t>{3, 0, 3, 3, 1, 0}, {2, 3});
  EXPECT_THAT(gradient_fault(rows_of(ids), {normal_numbers(1, {5, 3})}), IsEmpty());
  EXPECT_EQ(rows_of(ids)({Variable(Tensor(DType::f32, {5, 3}))}).shape(), (Shape{2, 3, 3}));
}

TEST(Embedding, IsTheSameOnAnyNumberOfThreads) {
  const Tensor ids = Generator(1).randint(0, 700, {3000});
  EXPECT_THAT(threads_fault(rows_of(ids), {normal_numbers(1, {700, 50})}, DType::f32), IsEmpty());
  EXPECT_THAT(threads_fault(rows_of(ids), {normal_numbers(1, {700, 50})}, DType::bf16), IsEmpty());
  EXPECT_THAT(threads_fault(rows_of(ids), {normal_numbers(1, {700, 50})}, DType::f16), IsEmpty());
}

TEST(Embedding, NamesTheIdThatLiesOutside) {
  const Variable table(Tensor(DType::f32, {5, 3}));
  EXPECT_EQ(error_message([&] { (void)embedding(table, Tensor(std::vector<std::int64_t>{0, 5}, {2})); }),
            "embedding: ids: expected ids from 0 to 4, got 5");
  EXPECT_EQ(error_message([&] { (void)embedding(table, Tensor(std::vector<std::int64_t>{-1}, {1})); }),
            "embedding: ids: expected ids from 0 to 4, got -1");
  EXPECT_EQ(error_message([&] { (void)embedding(table, Tensor(DType::f32, {1})); }),
            "embedding: ids: expected i64 or i32, got f32");
  EXPECT_EQ(error_message([&] { (void)embedding(Variable(Tensor(DType::f32, {5})), Tensor(DType::i64, {1})); }),
            "embedding: table: expected [N, D], got [5]");
}

Operation dropped(double p, std::uint64_t seed) {
  return [=](const std::vector<Variable>& x) { return dropout(x[0], {.p = p, .seed = seed}); };
}

TEST(Dropout, KeepsWhatTheCounterSays) {
  constexpr double kP = 0.3;
  constexpr std::uint64_t kSeed = 0x123456789ABCDEFU;
  Tensor ones(DType::f64, {4, 3, 301});
  for (double& value : ones.values<double>()) value = 1;
  const Variable y = dropped(kP, kSeed)({Variable(ones)});
  for (std::int64_t row = 0; row < 12; ++row) {
    for (std::int64_t j = 0; j < 301; ++j) {
      const double expected = dropout_keeps(kSeed, kP, {.i = row, .j = j}) ? 1 / (1 - kP) : 0;
      ASSERT_EQ(y.value().at({row / 3, row % 3, j}), expected) << row << " " << j;
    }
  }
}

TEST(Dropout, HasTheGradientOfCentralDifferences) {
  EXPECT_THAT(gradient_fault(dropped(0.5, 1), {normal_numbers(1, {3, 9})}), IsEmpty());
  EXPECT_THAT(threads_fault(dropped(0.5, 1), {normal_numbers(1, {300, 99})}, DType::f32), IsEmpty());
}

TEST(Dropout, OfNothingIsTheVariableItself) {
  const Variable x(Tensor(DType::f32, {2}));
  EXPECT_EQ(dropout(x, {.p = 0}).body(), x.body());
  EXPECT_EQ(error_message([&] { (void)dropout(x, {.p = 1}); }),
            "dropout: p: expected a probability in [0, 1), got 1.000000");
}

TEST(Dropout, KeepsInfinityAndDropsNaN) {
  const double inf = std::numeric_limits<double>::infinity();
  const Variable x(Tensor(std::vector<double>(64, inf), {64}));
  for (const double value : dropout(x, {.p = 0.5, .seed = 3}).value().to_vector()) {
    EXPECT_TRUE(value == 0 || value == inf);
  }
}

}  // namespace
}  // namespace qkv
