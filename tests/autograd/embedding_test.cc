#include "qkv/autograd/embedding.h"

#include <gmock/gmock.h>

#include "autograd/gradient_check.h"
#include "core/error_message.h"

namespace qkv::embedding_test {
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

}  // namespace
}  // namespace qkv::embedding_test
