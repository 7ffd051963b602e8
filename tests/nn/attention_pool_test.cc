#include "qkv/nn/attention_pool.h"

#include <gmock/gmock.h>

#include "autograd/gradient_check.h"
#include "nn/fixture.h"
#include "oracle/elementwise.h"
#include "oracle/of_layers.h"

namespace qkv::nn::attention_pool_test {
namespace {

AttentionPool made(DType dtype = DType::f64) {
  Generator generator(1);
  AttentionPool pool(
      {.d_model = 6, .heads = 2, .d_ff = 9, .activation = Activation::gelu_tanh, .epsilon = 1e-3, .dtype = dtype},
      generator);
  if (dtype == DType::f64) shake(pool.parameters());
  return pool;
}

TEST(AttentionPool, IsThatOfTheOracle) {
  const AttentionPool pool = made();
  const Parameters all = pool.parameters();
  const Tensor x = normal({3, 5, 6}, 1);
  const Tensor query(value_of(all, "query.weight").broadcast_to({3, 1, 6}).view());
  const Tensor read =
      oracle::attention_of({.d_model = 6, .heads = 2}, all, "attn.").forward_cross(query, x, AttentionOptions{});
  const Tensor normed = oracle::norm_of(1e-3, all, "ln.").forward(read);
  const Tensor out = oracle::add(read, oracle::feed_forward_of(Activation::gelu_tanh, all, "ffn.").forward(normed));
  expect_close(pool.forward(Variable(x)), out.view().reshape({3, 6}), 1e-12);
}

TEST(AttentionPool, HasTheGradientOfCentralDifferences) {
  const AttentionPool pool = made();
  const Operation operation = [&](const std::vector<Variable>& x) { return pool.forward(x[0]); };
  EXPECT_EQ(gradient_fault(operation, {normal_numbers(1, {2, 4, 6})}), "");
  backward(pool.forward(Variable(normal({2, 4, 6}, 1))), normal({2, 6}, 2));
  for (const Parameter& parameter : pool.parameters()) EXPECT_TRUE(parameter.value.has_gradient()) << parameter.name;
}

TEST(AttentionPool, KeepsTheDtypeOfWhatItReads) {
  const AttentionPool pool = made(DType::f32);
  EXPECT_EQ(pool.forward(Variable(normal({2, 4, 6}, 1, DType::bf16))).dtype(), DType::bf16);
  EXPECT_EQ(pool.parameters().front().value.shape().to_string(), "[6]");
}

TEST(AttentionPool, NamesWhatDoesNotFit) {
  EXPECT_EQ(message_of([] { (void)AttentionPool({.d_model = 0}, Init::undrawn()); }),
            "AttentionPool: d_model: expected 1 or more, got 0");
  EXPECT_EQ(message_of([] { (void)made().forward(Variable(normal({4, 6}, 1))); }),
            "AttentionPool: x: expected [B, T, 6], got [4, 6]");
}

}  // namespace
}  // namespace qkv::nn::attention_pool_test
