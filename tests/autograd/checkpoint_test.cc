#include "qkv/autograd/checkpoint.h"

#include <gmock/gmock.h>

#include "autograd/gradient_check.h"
#include "core/error_message.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/dropout.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/reduce.h"

namespace qkv::checkpoint_test {
namespace {

// Two layers that share their weight with what stands around them, with dropout inside.
std::vector<std::vector<double>> gradients(bool checkpointed) {
  const Variable x = Variable::parameter(normal_numbers(1, {6, 8}).to(DType::f32));
  const Variable weight = Variable::parameter(normal_numbers(2, {8, 8}).to(DType::f32));
  Variable h = linear(x, weight);
  for (std::uint64_t layer = 0; layer < 2; ++layer) {
    const auto block = [=](const std::vector<Variable>& inputs) {
      const Variable inner = dropout(gelu(linear(inputs[0], weight)), {.p = 0.3, .seed = layer});
      return inputs[0] + inner * inner;
    };
    h = checkpointed ? checkpoint(block, {h}) : block({h});
  }
  for (int call = 0; call < 2; ++call) backward(sum(linear(h, weight)), Record::keep);
  return {h.value().to_vector(), x.gradient().to_vector(), weight.gradient().to_vector()};
}

TEST(Checkpoint, GivesTheSameBitsAsWithout) { EXPECT_EQ(gradients(true), gradients(false)); }

TEST(Checkpoint, MayStandInsideAnother) {
  const Variable x = Variable::parameter(Tensor(std::vector<float>{2}, {1}));
  const auto square = [](const std::vector<Variable>& v) { return v[0] * v[0]; };
  const auto twice = [&](const std::vector<Variable>& v) { return checkpoint(square, {checkpoint(square, {v[0]})}); };
  backward(sum(checkpoint(twice, {x})));
  EXPECT_EQ(x.gradient().at({0}), 32);
}

TEST(Checkpoint, GivesGradientsToParametersOfTheBlockAlone) {
  const Variable weight = Variable::parameter(Tensor(std::vector<float>{3}, {1}));
  const Variable x(Tensor(std::vector<float>{2}, {1}));
  backward(sum(checkpoint([&](const std::vector<Variable>& v) { return v[0] * weight; }, {x})));
  EXPECT_EQ(weight.gradient().at({0}), 2);
  EXPECT_FALSE(checkpoint([](const std::vector<Variable>& v) { return v[0] * v[0]; }, {x}).requires_gradient());
}

TEST(Checkpoint, KeepsNoInnerValues) {
  const Variable x = Variable::parameter(Tensor(std::vector<float>(1 << 16, 0.5F), {1 << 16}));
  const auto deep = [](const std::vector<Variable>& v) {
    Variable y = v[0];
    for (int n = 0; n < 10; ++n) y = tanh(y);
    return y;
  };
  release_value_pool();
  const Variable y = checkpoint(deep, {x});
  // Two blocks served all ten values: one is the result, the other came back.
  EXPECT_LE(value_pool_bytes(), 2 * (sizeof(float) << 16));
}

TEST(Checkpoint, RefusesASecondRunThatDiffers) {
  const Variable x = Variable::parameter(Tensor(std::vector<float>{2, 3}, {2}));
  int calls = 0;
  const auto fickle = [&](const std::vector<Variable>& v) { return ++calls == 1 ? sum(v[0]) : v[0] * v[0]; };
  const Variable y = checkpoint(fickle, {x});
  EXPECT_EQ(error_message([&] { backward(y); }),
            "checkpoint: block: expected the same result in its second run, [] of f32, got [2] of f32");
  const Variable z = sum(checkpoint([](const std::vector<Variable>& v) { return v[0] * v[0]; }, {x}));
  x.mutable_value().set({0}, 1);
  EXPECT_EQ(error_message([&] { backward(z); }),
            "backward: an input of checkpoint: expected the value that the forward pass used, got one that was changed "
            "since");
}

}  // namespace
}  // namespace qkv::checkpoint_test
