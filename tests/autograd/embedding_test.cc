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

TEST(ScatterRows, SumsTheRowsOfAnId) {
  const Tensor rows(std::vector<double>{1, 2, 3, 4, 5, 6}, {3, 2});
  const Tensor ids(std::vector<std::int64_t>{2, 0, 2}, {3});
  const Variable out = scatter_rows(Variable(rows), ids, 4);
  EXPECT_EQ(out.shape(), (Shape{4, 2}));
  EXPECT_THAT(out.value().to_vector(), testing::ElementsAre(3, 4, 0, 0, 6, 8, 0, 0));
  const Operation operation = [&](const std::vector<Variable>& x) { return scatter_rows(x[0], ids, 4); };
  EXPECT_THAT(gradient_fault(operation, {normal_numbers(1, {3, 5})}), IsEmpty());
}

TEST(ScatterRows, AreTheSameOnAnyNumberOfThreads) {
  const Tensor ids = Generator(1).randint(0, 700, {3000});
  const Operation operation = [&](const std::vector<Variable>& x) { return scatter_rows(x[0], ids, 700); };
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    EXPECT_THAT(threads_fault(operation, {normal_numbers(1, {3000, 50})}, dtype), IsEmpty());
  }
}

TEST(ScatterRows, NamesWhatDoesNotFit) {
  const Variable rows(Tensor(DType::f32, {2, 3}));
  const Tensor ids(std::vector<std::int64_t>{0, 5}, {2});
  EXPECT_EQ(error_message([&] { (void)scatter_rows(rows, ids, 5); }),
            "scatter_rows: ids: expected ids from 0 to 4, got 5");
  EXPECT_EQ(error_message([&] { (void)scatter_rows(rows, Tensor(DType::i64, {3}), 5); }),
            "scatter_rows: ids: expected [2], got [3]");
  EXPECT_EQ(error_message([&] { (void)scatter_rows(Variable(Tensor(DType::f32, {5})), ids, 5); }),
            "scatter_rows: rows: expected [M, D], got [5]");
  EXPECT_EQ(error_message([&] { (void)scatter_rows(rows, ids, -1); }),
            "scatter_rows: count: expected 0 or more, got -1");
}

}  // namespace
}  // namespace qkv::embedding_test
