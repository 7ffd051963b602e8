#include "qkv/layers/layers.h"

#include <gmock/gmock.h>

#include "autograd/gradient_check.h"
#include "core/error_message.h"
#include "qkv/autograd/reduce.h"

namespace qkv::learn {
namespace {

using testing::ElementsAre;

std::vector<std::string> names_of(const Parameters& parameters) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) names.push_back(parameter.name);
  return names;
}

// Both in f64, with sums of some tens of products.
void expect_near(const TensorView& got, const TensorView& expected) {
  ASSERT_EQ(got.shape(), expected.shape());
  const std::vector<double> a = got.to_vector();
  const std::vector<double> b = expected.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-13) << i;
}

TEST(Layers, ComputeWhatTheLayersTheyComeFromDo) {
  Generator generator(1);
  const Tensor x = normal_numbers(1, {2, 5, 8});
  const qkv::Linear linear({.in = 8, .out = 3, .dtype = DType::f64}, generator);
  expect_near(Linear(linear).forward(Variable(x)).value(), linear.forward(x));
  for (const Activation activation : {Activation::gelu, Activation::gelu_tanh, Activation::relu}) {
    const qkv::FeedForward layer({.d_model = 8, .activation = activation, .dtype = DType::f64}, generator);
    expect_near(FeedForward(layer).forward(Variable(x)).value(), layer.forward(x));
  }
  const qkv::Norm norms[] = {
      LayerNorm({.normalized = {8}, .weight = normal_numbers(2, {8}), .bias = normal_numbers(3, {8})}),
      RMSNorm({.normalized = {8}, .weight = normal_numbers(2, {8})}),
  };
  for (const qkv::Norm& norm : norms) {
    expect_near(Norm(norm).forward(Variable(x)).value(), normalize(norm, x));
    expect_near(normalize(Norm(norm).frozen(), x), normalize(norm, x));
  }
}

TEST(Layers, AttendAsTheLayersTheyComeFrom) {
  Generator generator(1);
  const Tensor x = normal_numbers(1, {2, 5, 8});
  const Tensor context = normal_numbers(2, {2, 3, 6});
  const AttentionOptions causal_alibi{.bias = alibi(), .mask = causal()};
  const qkv::MultiHeadAttention self({.d_model = 8, .heads = 4, .kv_heads = 2, .rotary = RotaryOptions{.dim = 2}},
                                     generator, DType::f64);
  expect_near(MultiHeadAttention(self).forward(Variable(x), {.attention = causal_alibi}).value(),
              self.forward(x, {.attention = causal_alibi}));
  const Tensor positions(std::vector<std::int64_t>{3, 1, 4, 1, 5}, {5});
  expect_near(MultiHeadAttention(self).forward(Variable(x), {.positions = positions.view()}).value(),
              self.forward(x, {.positions = positions.view()}));
  const qkv::MultiHeadAttention cross({.d_model = 8, .heads = 2, .d_v = 3, .d_context = 6, .bias = false}, generator,
                                      DType::f64);
  const MultiHeadAttention learned(cross);
  expect_near(learned.forward_cross(Variable(x), Variable(context)).value(), cross.forward_cross(x, context));
  expect_near(learned.frozen().forward_cross(x, context), cross.forward_cross(x, context));
}

TEST(Layers, NameTheirParametersInTheOrderOfTheDraws) {
  Generator generator(1);
  EXPECT_THAT(names_of(MultiHeadAttention({.d_model = 4, .heads = 2}, generator).parameters()),
              ElementsAre("q.weight", "q.bias", "k.weight", "k.bias", "v.weight", "v.bias", "out.weight", "out.bias"));
  EXPECT_THAT(names_of(FeedForward({.d_model = 4, .bias = false}, generator).parameters()),
              ElementsAre("up.weight", "down.weight"));
}

TEST(Layers, SeveralHeadsHaveAsManyParametersAsOne) {
  const auto count = [](std::int64_t heads) {
    Generator generator(1);
    return parameter_count(MultiHeadAttention({.d_model = 12, .heads = heads}, generator).parameters());
  };
  EXPECT_EQ(count(1), 4 * (12 * 12 + 12));
  EXPECT_EQ(count(4), count(1));
}

TEST(Layers, RefuseHeadsThatDoNotDivide) {
  Generator generator(1);
  EXPECT_EQ(error_message([&] { MultiHeadAttention({.d_model = 10, .heads = 4}, generator); }),
            "MultiHeadAttention: heads: expected a divisor of d_model, 10, where d_k is not given, got 4");
  const MultiHeadAttention layer({.d_model = 4, .heads = 2}, generator);
  EXPECT_EQ(error_message([&] { (void)layer.forward(Variable(Tensor(DType::f32, {2, 4}))); }),
            "MultiHeadAttention: x: expected [B, T, d_model], got [2, 4]");
  EXPECT_EQ(error_message([&] {
              (void)layer.forward(Variable(Tensor(DType::f32, {1, 2, 4})),
                                  {.positions = Tensor(DType::i64, {2}).view()});
            }),
            "MultiHeadAttention: positions: expected none without rotary, got [2]");
  EXPECT_EQ(error_message([] { Norm(LayerNorm({.normalized = {2, 3}})); }),
            "Norm: normalized: expected one axis, got [2, 3]");
}

TEST(Embedding, TiedToTheOutputGetsTheSumOfBothGradients) {
  Generator generator(1);
  const Embedding table(5, 3, generator);
  const Variable weight = table.parameters()[0].value;
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
  EXPECT_EQ(error_message([&] { Embedding(5, 3, generator, 0); }),
            "Embedding: deviation: expected more than 0, got 0.000000");
}

TEST(Parameters, AreAssignedByName) {
  Generator generator(1);
  const Linear layer({.in = 2, .out = 1}, generator);
  assign(layer.parameters(), "weight", Tensor(std::vector<double>{3, 4}, {1, 2}));
  EXPECT_THAT(layer.parameters()[0].value.value().to_vector(), ElementsAre(3, 4));
  EXPECT_EQ(error_message([&] { assign(layer.parameters(), "wait", Tensor(DType::f32, {1})); }),
            "assign: name: expected the name of a parameter, got \"wait\"");
  EXPECT_EQ(error_message([&] { assign(layer.parameters(), "bias", Tensor(DType::f32, {2})); }),
            "assign: bias: expected [1], got [2]");
}

TEST(Dropout, SeedsOfPlacesDiffer) {
  const Dropout dropout{.p = 0.1, .seed = 7};
  EXPECT_NE(dropout_at(dropout, 0).seed, dropout_at(dropout, 1).seed);
  EXPECT_NE(dropout_at(dropout_at(dropout, 0), 1).seed, dropout_at(dropout_at(dropout, 1), 0).seed);
  EXPECT_EQ(dropout_at(dropout, 3).p, 0.1);
}

}  // namespace
}  // namespace qkv::learn
