#include "qkv/nn/embedding.h"

#include "nn/fixture.h"
#include "qkv/autograd/reduce.h"

namespace qkv::nn::embedding_test {
namespace {

Embedding table_of(Tensor weight) { return Embedding(Variable::parameter(std::move(weight))); }

TEST(Embedding, AgreesWithPyTorch) {
  const Json fixture = read_fixture("torch_layers.json").at("embedding");
  const Embedding embedding = table_of(tensor_of(fixture.at("table")));
  const Variable out = embedding.forward(integers_of(fixture.at("ids")), DType::f64);
  EXPECT_EQ(out.shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(out.value().to_vector(), tensor_of(fixture.at("out")).to_vector());
}

TEST(Embedding, DrawsTheNumbersOfPyTorch) {
  Generator generator(7);
  const Embedding embedding({.count = 7, .width = 4, .deviation = 1}, generator);
  expect_close(embedding.weight(),
               tensor_of(read_fixture("torch_layers.json").at("initial").at("embedding").at("weight")), 1e-6);
}

TEST(Embedding, DrawsANormalOfStandardDeviationTwoHundredths) {
  Generator a(4);
  Generator b(4);
  const Embedding embedding({.count = 3, .width = 2, .dtype = DType::f64}, a);
  const std::vector<double> plain = b.randn({3, 2}, DType::f64).to_vector();
  const std::vector<double> drawn = embedding.weight().value().to_vector();
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(drawn[i], 0.02 * plain[i]);
}

TEST(Embedding, ReadsIdsOfAnyIntegerTypeAndStride) {
  const Embedding embedding = table_of(Tensor(std::vector<float>{0, 1, 2, 3, 4, 5}, {3, 2}));
  const Tensor ids(std::vector<std::int32_t>{0, 1, 2, 0}, {2, 2});
  EXPECT_EQ(embedding.forward(ids.view().transpose(0, 1)).value().to_vector(),
            (std::vector<double>{0, 1, 4, 5, 2, 3, 0, 1}));
}

TEST(Embedding, NamesTheIdOutOfRange) {
  const Embedding embedding = table_of(Tensor(DType::f32, {5, 2}));
  EXPECT_EQ(message_of([&] { (void)embedding.forward(Tensor(std::vector<std::int64_t>{1, 5}, {2})); }),
            "embedding: ids: expected ids from 0 to 4, got 5");
  EXPECT_EQ(message_of([&] { (void)embedding.forward(Tensor(std::vector<std::int64_t>{-1}, {1})); }),
            "embedding: ids: expected ids from 0 to 4, got -1");
  EXPECT_EQ(message_of([&] { (void)embedding.forward(Tensor(std::vector<float>{1}, {1})); }),
            "embedding: ids: expected i64 or i32, got f32");
}

TEST(Embedding, NamesABadTable) {
  Generator generator(1);
  EXPECT_EQ(message_of([] { (void)table_of(Tensor(DType::f32, {5})); }),
            "Embedding: weight: expected rank 2 with extents of 1 or more, got [5]");
  EXPECT_EQ(message_of([&] { (void)Embedding({.count = 0, .width = 2}, generator); }),
            "Embedding: count: expected 1 or more, got 0");
  EXPECT_EQ(message_of([&] { (void)Embedding({.count = 2, .width = 0}, generator); }),
            "Embedding: width: expected 1 or more, got 0");
  EXPECT_EQ(message_of([&] { (void)Embedding({.count = 5, .width = 3, .deviation = 0}, generator); }),
            "Embedding: deviation: expected a positive number, got 0");
}

TEST(Embedding, TiedToTheOutputGetsTheSumOfBothGradients) {
  Generator generator(1);
  const Embedding table({.count = 5, .width = 3}, generator);
  const Variable& weight = table.weight();
  const Tensor ids(std::vector<std::int64_t>{1, 4}, {2});
  backward(sum(table.logits(table.forward(ids))));
  // d of sum over rows r, ids n of w[n] . w[r]: the sum of all rows for each id, and the sum of the ids' rows for each
  // row.
  for (std::int64_t row = 0; row < 5; ++row) {
    for (std::int64_t i = 0; i < 3; ++i) {
      double all = 0;
      for (std::int64_t r = 0; r < 5; ++r) all += weight.value().at({r, i});
      const double both = weight.value().at({1, i}) + weight.value().at({4, i});
      const double expected = both + (row == 1 || row == 4 ? all : 0);
      EXPECT_NEAR(weight.gradient().at({row, i}), expected, 1e-7);
    }
  }
  Parameters twice;
  append(twice, "in", table.parameters());
  append(twice, "out", table.parameters());
  EXPECT_EQ(parameter_count(twice), 15);
}

}  // namespace
}  // namespace qkv::nn::embedding_test
