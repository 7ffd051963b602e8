// Factors of what sublayers give: the same as maps whose rows are scaled.
#include <gmock/gmock.h>

#include "nn/fixture.h"
#include "oracle/of_layers.h"
#include "qkv/nn/stack.h"

namespace qkv::nn::layer_scale_test {
namespace {

StackOptions options(NormOrder order) {
  StackOptions stack{.layers = 2};
  stack.block.attention.d_model = 6;
  stack.block.attention.heads = 2;
  stack.block.d_ff = 10;
  stack.block.order = order;
  return stack;
}

Tensor by_rows(const TensorView& map, const Tensor& factors) {
  Tensor scaled(map);
  const std::int64_t inner = map.size() / map.dim(0);
  const auto values = scaled.values<double>();
  for (std::int64_t n = 0; n < map.size(); ++n) values[static_cast<std::size_t>(n)] *= factors.at({n / inner});
  return scaled;
}

// The parameters of the same stack without factors.
Parameters folded(const Parameters& all) {
  Parameters plain;
  for (const Parameter& parameter : all) {
    if (parameter.name.ends_with("_scale.weight")) continue;
    Tensor value(parameter.value.value());
    for (const auto& [map, factor] : {std::pair("attn.out.", "attn_scale.weight"), {"ffn.down.", "ffn_scale.weight"}}) {
      const std::size_t at = parameter.name.find(map);
      if (at == std::string::npos) continue;
      const std::string name = parameter.name.substr(0, at) + factor;
      const auto found = std::ranges::find(all, name, &Parameter::name);
      value = by_rows(value, Tensor(found->value.value()));
    }
    plain.push_back({parameter.name, Variable(std::move(value))});
  }
  return plain;
}

TEST(LayerScale, ScalesWhatEachSublayerGives) {
  const Tensor x = Generator(1).randn({2, 5, 6}, DType::f64);
  for (const NormOrder order : {NormOrder::pre, NormOrder::post, NormOrder::both, NormOrder::after, NormOrder::parallel,
                                NormOrder::parallel_one}) {
    StackOptions scaled = options(order);
    scaled.block.layer_scale = true;
    Generator generator(2);
    const TransformerStack stack(scaled, generator, DType::f64);
    const Parameters all = stack.parameters();
    const auto last = std::ranges::find(all, "blocks.1.ffn_scale.weight", &Parameter::name);
    ASSERT_NE(last, all.end());
    EXPECT_EQ(last->value.value().at({5}), 1);
    for (const Parameter& parameter : all) {
      parameter.value.replace_value(
          Tensor(Generator(parameter.name.size()).randn(parameter.value.shape(), DType::f64)));
    }
    expect_close(stack.forward(Variable(x)), oracle::stack_of(options(order), folded(all)).forward(x), 1e-11);
  }
}

TEST(LayerScale, IsNotBesideCrossAttention) {
  BlockOptions cross = options(NormOrder::pre).block;
  cross.layer_scale = true;
  cross.d_context = 4;
  EXPECT_EQ(message_of([&] { static_cast<void>(TransformerBlock(cross, Init::undrawn())); }),
            "TransformerBlock: layer_scale: expected false where there is cross-attention, got true");
}

}  // namespace
}  // namespace qkv::nn::layer_scale_test
