#include "qkv/layers/transformer.h"

#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "autograd/gradient_check.h"
#include "core/error_message.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/reduce.h"
#include "qkv/autograd/watch.h"

namespace qkv::learn {
namespace {

using testing::IsEmpty;

StackOptions options(NormOrder order, NormKind norm, std::optional<std::int64_t> d_context = std::nullopt) {
  return {
      .kind = StackKind::decoder,
      .layers = 2,
      .block = {
          .attention = {.d_model = 8, .heads = 2}, .d_context = d_context, .d_ff = 12, .order = order, .norm = norm}};
}

void expect_near(const TensorView& got, const TensorView& expected) {
  const std::vector<double> a = got.to_vector();
  const std::vector<double> b = expected.to_vector();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-12) << i;
}

TEST(Transformer, ComputesWhatTheStackItComesFromDoes) {
  const Tensor x = normal_numbers(1, {2, 5, 8});
  const Tensor context = normal_numbers(2, {2, 3, 6});
  for (const NormOrder order : {NormOrder::pre, NormOrder::post}) {
    for (const NormKind norm : {NormKind::layer, NormKind::rms}) {
      Generator generator(1);
      const qkv::TransformerStack self(options(order, norm), generator, DType::f64);
      const AttentionOptions dropping{.dropout = Dropout{.p = 0.3, .seed = 5}};
      const TransformerStack learned(self);
      expect_near(learned.forward(Variable(x), {.attention = dropping}).value(),
                  self.forward(x, {.attention = dropping}));
      expect_near(learned.frozen().forward(x), self.forward(x));
      const qkv::TransformerStack cross(options(order, norm, 6), generator, DType::f64);
      expect_near(TransformerStack(cross).forward_cross(Variable(x), Variable(context)).value(),
                  cross.forward_cross(x, context));
      expect_near(TransformerStack(cross).frozen().forward_cross(x, context), cross.forward_cross(x, context));
    }
  }
}

TEST(Transformer, HasTheGradientOfCentralDifferences) {
  Generator generator(1);
  const TransformerStack stack(options(NormOrder::pre, NormKind::layer, 6), generator, DType::f64);
  const Operation operation = [&](const std::vector<Variable>& x) {
    return stack.forward_cross(x[0], x[1], {.dropout = Dropout{.p = 0.2, .seed = 3}});
  };
  EXPECT_THAT(gradient_fault(operation, {normal_numbers(1, {2, 3, 8}), normal_numbers(2, {2, 2, 6})}), IsEmpty());
}

Tensor filled(const Shape& shape, double value) {
  return {std::vector<float>(static_cast<std::size_t>(shape.product()), static_cast<float>(value)), shape};
}

std::vector<std::vector<double>> gradients(BlockMemory memory, DType dtype) {
  Generator generator(1);
  const TransformerStack stack(options(NormOrder::pre, NormKind::layer), generator);
  const Variable x = Variable::parameter(normal_numbers(1, {2, 9, 8}).to(dtype));
  const Variable y = stack.forward(x, {.attention = {.dropout = Dropout{.p = 0.1, .seed = 1}},
                                       .dropout = Dropout{.p = 0.2, .seed = 2},
                                       .memory = memory});
  backward(sum(mul(y, y)));
  std::vector<std::vector<double>> all = {y.value().to_vector(), x.gradient().to_vector()};
  for (const Parameter& parameter : stack.parameters()) all.push_back(parameter.value.gradient().to_vector());
  return all;
}

TEST(Transformer, RecomputedGivesTheSameBits) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    EXPECT_EQ(gradients(BlockMemory::recompute, dtype), gradients(BlockMemory::keep, dtype));
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Transformer, AWatchNamesTheLayerWhoseResultWentBad) {
  const std::vector<std::pair<std::string, std::string>> places = {
      {"blocks.0.ln1.weight", "layer_norm in blocks.0.ln1, [1, 3, 8]"},
      {"blocks.1.attention.k.weight", "linear in blocks.1.attention.k, [1, 3, 8]"},
      {"blocks.1.attention.out.bias", "linear in blocks.1.attention.out, [1, 3, 8]"},
      {"blocks.1.ln_cross.bias", "layer_norm in blocks.1.ln_cross, [1, 3, 8]"},
      {"blocks.0.cross.v.weight", "linear in blocks.0.cross.v, [1, 2, 8]"},
      {"blocks.0.feed_forward.up.weight", "linear in blocks.0.feed_forward.up, [1, 3, 12]"},
      {"blocks.1.feed_forward.down.bias", "linear in blocks.1.feed_forward.down, [1, 3, 8]"},
      {"ln_final.weight", "layer_norm in ln_final, [1, 3, 8]"}};
  for (const auto& [name, expected] : places) {
    Generator generator(1);
    const TransformerStack stack(options(NormOrder::pre, NormKind::layer, 6), generator);
    for (const Parameter& parameter : stack.parameters()) {
      if (parameter.name == name) assign({parameter}, name, filled(parameter.value.shape(), kInfinity));
    }
    const NonFiniteWatch watch;
    static_cast<void>(stack.forward_cross(Variable(normal_numbers(1, {1, 3, 8}).to(DType::f32)),
                                          Variable(normal_numbers(2, {1, 2, 6}).to(DType::f32))));
    EXPECT_EQ(watch.first(), "the result of " + expected) << name;
  }
}

TEST(Transformer, AWatchNamesWhereAGradientWentBad) {
  for (const BlockMemory memory : {BlockMemory::keep, BlockMemory::recompute}) {
    Generator generator(1);
    const TransformerStack stack(options(NormOrder::post, NormKind::layer), generator);
    const Variable y = stack.forward(Variable(normal_numbers(1, {1, 3, 8}).to(DType::f32)), {.memory = memory});
    const NonFiniteWatch watch;
    const OperationScope elsewhere("elsewhere");
    backward(y, filled(y.shape(), 3e38));  // finite, unlike sums of it
    EXPECT_EQ(watch.first(), "a gradient that layer_norm in blocks.1.ln2 passes back, [1, 3, 8]");
  }
}

TEST(Transformer, CountsItsParameters) {
  Generator generator(1);
  const TransformerStack stack(options(NormOrder::pre, NormKind::layer), generator);
  const std::int64_t block = 2 * (2 * 8) + 4 * (8 * 8 + 8) + (12 * 8 + 12) + (8 * 12 + 8);
  EXPECT_EQ(parameter_count(stack.parameters()), 2 * (block + 8));
  EXPECT_EQ(stack.parameters().front().name, "blocks.0.ln1.weight");
  EXPECT_EQ(stack.parameters().back().name, "ln_final.bias");
}

TEST(Transformer, AsksForAContextWhereItAttendsToOne) {
  Generator generator(1);
  const Variable x(Tensor(DType::f32, {1, 2, 8}));
  const TransformerBlock cross(options(NormOrder::pre, NormKind::layer, 6).block, generator);
  EXPECT_EQ(error_message([&] { (void)cross.forward(x); }),
            "TransformerBlock: context: expected one for the cross-attention, got none");
  const TransformerBlock self(options(NormOrder::pre, NormKind::layer).block, generator);
  EXPECT_EQ(error_message([&] { (void)self.forward_cross(x, x); }),
            "TransformerBlock: context: expected none without cross-attention, got [1, 2, 8]");
}

}  // namespace
}  // namespace qkv::learn
