#include "qkv/nn/embedding.h"

#include "nn/fixture.h"

namespace qkv::nn {
namespace {

TEST(Embedding, AgreesWithPyTorch) {
  const Json fixture = read_fixture("torch_layers.json").at("embedding");
  const Embedding embedding(tensor_of(fixture.at("table")));
  const Tensor out = embedding.forward(integers_of(fixture.at("ids")));
  EXPECT_EQ(out.shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(out.to_vector(), tensor_of(fixture.at("out")).to_vector());
}

TEST(Embedding, DrawsTheNumbersOfPyTorch) {
  Generator generator(7);
  const Embedding embedding(7, 4, generator);
  expect_close(embedding.table(),
               tensor_of(read_fixture("torch_layers.json").at("initial").at("embedding").at("weight")), 1e-6);
}

TEST(Embedding, ReadsIdsOfAnyIntegerTypeAndStride) {
  const Embedding embedding(Tensor(std::vector<float>{0, 1, 2, 3, 4, 5}, {3, 2}));
  const Tensor ids(std::vector<std::int32_t>{0, 1, 2, 0}, {2, 2});
  EXPECT_EQ(embedding.forward(ids.view().transpose(0, 1)).to_vector(), (std::vector<double>{0, 1, 4, 5, 2, 3, 0, 1}));
}

TEST(Embedding, NamesTheIdOutOfRange) {
  const Embedding embedding(Tensor(DType::f32, {5, 2}));
  EXPECT_EQ(message_of([&] { (void)embedding.forward(Tensor(std::vector<std::int64_t>{1, 5}, {2})); }),
            "Embedding: ids: expected 0 to 4 (a table of 5 rows), got 5");
  EXPECT_EQ(message_of([&] { (void)embedding.forward(Tensor(std::vector<std::int64_t>{-1}, {1})); }),
            "Embedding: ids: expected 0 to 4 (a table of 5 rows), got -1");
  EXPECT_EQ(message_of([&] { (void)embedding.forward(Tensor(std::vector<float>{1}, {1})); }),
            "Embedding: ids: expected i64 or i32, got f32");
}

TEST(Embedding, NamesABadTable) {
  Generator generator(1);
  EXPECT_EQ(message_of([] { (void)Embedding(Tensor(DType::f32, {5})); }),
            "Embedding: table: expected rank 2 with extents of 1 or more, got [5]");
  EXPECT_EQ(message_of([] { (void)Embedding(Tensor(DType::i64, {5, 2})); }),
            "Embedding: table: expected f64, f32, f16 or bf16, got i64");
  EXPECT_EQ(message_of([&] { (void)Embedding(0, 2, generator); }), "Embedding: count: expected 1 or more, got 0");
  EXPECT_EQ(message_of([&] { (void)Embedding(2, 0, generator); }), "Embedding: width: expected 1 or more, got 0");
  EXPECT_EQ(message_of([] { (void)gather_rows(Tensor(DType::f32, {5}), Tensor(DType::i64, {1}), "gather", "ids"); }),
            "gather: table: expected rank 2, got [5]");
}

}  // namespace
}  // namespace qkv::nn
