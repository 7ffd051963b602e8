#include "qkv/layers/transformer.h"

#include <gmock/gmock.h>

#include "autograd/gradient_check.h"
#include "core/error_message.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/reduce.h"

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

TEST(Transformer, CountsItsParameters) {
  Generator generator(1);
  const TransformerStack stack(options(NormOrder::pre, NormKind::layer), generator);
  const std::int64_t block = 2 * (2 * 8) + 4 * (8 * 8 + 8) + (12 * 8 + 12) + (8 * 12 + 8);
  EXPECT_EQ(parameter_count(stack.parameters()), 2 * block + 2 * 8);
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
