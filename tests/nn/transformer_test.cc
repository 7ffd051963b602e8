#include <gmock/gmock.h>

#include <limits>
#include <utility>

#include "autograd/gradient_check.h"
#include "nn/fixture.h"
#include "oracle/of_layers.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/reduce.h"
#include "qkv/autograd/scope.h"
#include "qkv/autograd/watch.h"
#include "qkv/nn/stack.h"

namespace qkv::nn::transformer_test {
namespace {

using testing::IsEmpty;

TransformerStack made(const StackOptions& options, DType dtype = DType::f64) {
  Generator generator(21);
  return {options, generator, dtype};
}

void assign_linear(const Parameters& to, const std::string& name, const Json& fixture, const std::string& from) {
  assign(to, name + ".weight", tensor_of(fixture.at(from + "weight")));
  assign(to, name + ".bias", tensor_of(fixture.at(from + "bias")));
}

// in_proj holds q, k and v one above the other.
void assign_attention(const Parameters& to, const std::string& name, const Json& fixture, const std::string& from) {
  const Tensor weight = tensor_of(fixture.at(from + ".in_proj_weight"));
  const Tensor bias = tensor_of(fixture.at(from + ".in_proj_bias"));
  std::int64_t first = 0;
  for (const char* map : {".q", ".k", ".v"}) {
    assign(to, name + map + ".weight", weight.view().slice(0, first, first + 8));
    assign(to, name + map + ".bias", bias.view().slice(0, first, first + 8));
    first += 8;
  }
  assign_linear(to, name + ".out", fixture, from + ".out_proj.");
}

TransformerBlock from_pytorch(const Json& fixture, NormOrder order, Activation activation,
                              std::optional<std::int64_t> d_context) {
  TransformerBlock block({.attention = {.d_model = 8, .heads = 2},
                          .d_context = d_context,
                          .d_ff = 12,
                          .activation = activation,
                          .order = order},
                         Init::undrawn(), DType::f64);
  const Parameters all = block.parameters();
  assign_linear(all, "ln1", fixture, "norm1.");
  assign_attention(all, "attn", fixture, "self_attn");
  if (d_context) {
    assign_linear(all, "ln_cross", fixture, "norm2.");
    assign_attention(all, "cross", fixture, "multihead_attn");
  }
  assign_linear(all, "ln2", fixture, d_context ? "norm3." : "norm2.");
  assign_linear(all, "ffn.up", fixture, "linear1.");
  assign_linear(all, "ffn.down", fixture, "linear2.");
  return block;
}

TEST(TransformerBlock, AgreesWithPyTorchsEncoderLayer) {
  const Json file = read_fixture("torch_layers.json");
  for (const auto order : {NormOrder::post, NormOrder::pre}) {
    const Json& fixture = file.at(order == NormOrder::pre ? "encoder_pre" : "encoder_post");
    const TransformerBlock block =
        from_pytorch(fixture, order, order == NormOrder::pre ? Activation::gelu : Activation::relu, std::nullopt);
    expect_close(block.forward(Variable(tensor_of(fixture.at("x")))), tensor_of(fixture.at("out")));
  }
}

TEST(TransformerBlock, AgreesWithPyTorchsDecoderLayer) {
  const Json file = read_fixture("torch_layers.json");
  for (const auto order : {NormOrder::post, NormOrder::pre}) {
    const Json& fixture = file.at(order == NormOrder::pre ? "decoder_pre" : "decoder_post");
    const TransformerBlock block = from_pytorch(fixture, order, Activation::gelu, 8);
    expect_close(block.forward_cross(Variable(tensor_of(fixture.at("x"))), Variable(tensor_of(fixture.at("memory"))),
                                     {.attention = {.mask = causal()}}),
                 tensor_of(fixture.at("out")));
  }
}

StackOptions options(NormOrder order, NormKind norm, std::optional<std::int64_t> d_context = std::nullopt) {
  return {
      .kind = StackKind::decoder,
      .layers = 2,
      .block = {
          .attention = {.d_model = 8, .heads = 2}, .d_context = d_context, .d_ff = 12, .order = order, .norm = norm}};
}

TEST(TransformerStack, IsThatOfTheOracle) {
  const Tensor x = normal({2, 5, 8}, 1);
  const Tensor context = normal({2, 3, 6}, 2);
  const AttentionOptions dropping{.bias = alibi(), .dropout = Dropout{.p = 0.3, .seed = 5}};
  for (const NormOrder order : {NormOrder::pre, NormOrder::post, NormOrder::both, NormOrder::after}) {
    for (const NormKind norm : {NormKind::layer, NormKind::rms, NormKind::rms_plus_one, NormKind::layer_without_bias}) {
      const TransformerStack self = made(options(order, norm));
      shake(self.parameters());
      expect_close(
          self.forward(Variable(x), {.attention = dropping}),
          oracle::stack_of(options(order, norm), self.parameters()).forward(x, std::nullopt, {.attention = dropping}),
          1e-12);
      const TransformerStack cross = made(options(order, norm, 6));
      shake(cross.parameters());
      expect_close(cross.forward_cross(Variable(x), Variable(context), {.cross_attention = dropping}),
                   oracle::stack_of(options(order, norm, 6), cross.parameters())
                       .forward(x, context.view(), {.cross_attention = dropping}),
                   1e-12);
    }
  }
}

TEST(TransformerStack, RunsSublayersSideBySide) {
  const Tensor x = normal({2, 5, 8}, 1);
  for (const NormOrder order : {NormOrder::parallel, NormOrder::parallel_one}) {
    for (const std::optional<double> scale : {std::optional<double>(), std::optional<double>(0.3)}) {
      StackOptions parallel = options(order, NormKind::layer);
      parallel.block.residual_scale = scale;
      const TransformerStack stack = made(parallel);
      shake(stack.parameters());
      expect_close(stack.forward(Variable(x)), oracle::stack_of(parallel, stack.parameters()).forward(x), 1e-12);
      StackCache cache = stack.make_cache(2, 5, DType::f64);
      const NoGradient constant;
      const Variable first = stack.forward_cached(slice(Variable(x), 1, 0, 3), cache);
      const Variable rest = stack.forward_cached(slice(Variable(x), 1, 3, 5), cache);
      expect_close(concat(std::vector<Variable>{first, rest}, 1), stack.forward(Variable(x)).value(), 1e-12);
    }
  }
  EXPECT_EQ(message_of([] { static_cast<void>(made(options(NormOrder::parallel, NormKind::layer, 6))); }),
            "TransformerBlock: d_context: expected none where sublayers are parallel, got 6");
}

TEST(TransformerStack, ScalesWhatItsSublayersAdd) {
  const Tensor x = normal({2, 5, 8}, 1);
  for (const NormOrder order : {NormOrder::pre, NormOrder::post, NormOrder::both, NormOrder::after}) {
    StackOptions scaled = options(order, NormKind::rms);
    scaled.block.residual_scale = 0.25;
    const TransformerStack stack = made(scaled);
    shake(stack.parameters());
    expect_close(stack.forward(Variable(x)), oracle::stack_of(scaled, stack.parameters()).forward(x), 1e-12);
  }
}

TEST(TransformerStack, VariesItsLayersAndTheirParts) {
  const StackOptions varied{.kind = StackKind::decoder,
                            .layers = 3,
                            .block = {.attention = {.d_model = 8,
                                                    .heads = 4,
                                                    .kv_heads = 2,
                                                    .bias = false,
                                                    .rotary = RotaryOptions{.dim = 2},
                                                    .qk_norm = 1e-6,
                                                    .softcap = 5.0},
                                      .activation = Activation::silu,
                                      .feed_forward = FeedForwardKind::gated,
                                      .norm = NormKind::rms,
                                      .epsilon = 1e-6},
                            .vary = [](std::int64_t n, BlockOptions& block) {
                              if (n == 1) block.attention.window = 2;
                              if (n == 2) block.attention.rotary->base = 100;
                            }};
  const TransformerStack stack = made(varied);
  const Tensor x = normal({2, 6, 8}, 1);
  expect_close(stack.forward(Variable(x)), oracle::stack_of(varied, stack.parameters()).forward(x), 1e-12);
  EXPECT_EQ(stack.blocks()[1].attention().options().window, 2);
  EXPECT_FALSE(stack.blocks()[0].attention().options().window.has_value());
}

TEST(TransformerStack, LeavesOutItsFirstNorm) {
  StackOptions without = options(NormOrder::pre, NormKind::layer);
  without.vary = [](std::int64_t n, BlockOptions& block) { block.first_norm = n > 0; };
  const TransformerStack stack = made(without);
  shake(stack.parameters());
  const Tensor x = normal({2, 5, 8}, 1);
  expect_close(stack.forward(Variable(x)), oracle::stack_of(without, stack.parameters()).forward(x), 1e-12);
  EXPECT_EQ(stack.parameters().front().name, "blocks.0.attn.q.weight");
  for (const NormOrder order : {NormOrder::post, NormOrder::both, NormOrder::after, NormOrder::parallel_one}) {
    BlockOptions other = options(order, NormKind::layer).block;
    other.first_norm = false;
    EXPECT_EQ(message_of([&] { (void)TransformerBlock(other, Init::undrawn()); }),
              "TransformerBlock: first_norm: expected true where norms do not stand before sublayers alone, got false");
  }
}

TEST(TransformerStack, IsOneBlockInEachLayer) {
  for (const NormOrder order : {NormOrder::pre, NormOrder::post}) {
    StackOptions same = options(order, NormKind::layer);
    same.layers = 3;
    same.one_block = true;
    const TransformerStack stack = made(same);
    shake(stack.parameters());
    const Tensor x = normal({2, 5, 8}, 1);
    expect_close(stack.forward(Variable(x)), oracle::stack_of(same, stack.parameters()).forward(x), 1e-12);
    EXPECT_EQ(stack.blocks().size(), 3U);
    const std::size_t of_block = stack.blocks().front().parameters().size();
    EXPECT_EQ(stack.parameters().size(), of_block + (order == NormOrder::pre ? 2 : 0));
    const Operation operation = [&](const std::vector<Variable>& inputs) { return stack.forward(inputs[0]); };
    EXPECT_THAT(gradient_fault(operation, {normal_numbers(1, {2, 3, 8})}), IsEmpty());
    same.vary = [](std::int64_t, BlockOptions&) {};
    EXPECT_EQ(message_of([&] { (void)made(same); }),
              "TransformerStack: vary: expected none where every layer is one block, got a function");
  }
}

TEST(TransformerBlock, RootMeanSquareNormAndRotaryMakeALlamaBlock) {
  Generator generator(1);
  const TransformerBlock block(
      {.attention = {.d_model = 8, .heads = 4, .kv_heads = 2, .bias = false, .rotary = RotaryOptions{.dim = 2}},
       .activation = Activation::silu,
       .feed_forward = FeedForwardKind::gated,
       .norm = NormKind::rms,
       .epsilon = 1e-6},
      generator);
  std::vector<std::string> names;
  for (const Parameter& parameter : block.parameters()) names.push_back(parameter.name);
  EXPECT_THAT(names,
              testing::ElementsAre("ln1.weight", "attn.q.weight", "attn.k.weight", "attn.v.weight", "attn.out.weight",
                                   "ln2.weight", "ffn.gate.weight", "ffn.up.weight", "ffn.down.weight"));
  EXPECT_EQ(value_of(block.parameters(), "ffn.up.weight").dim(0), 32);
  const Variable x(normal({2, 3, 8}, 1, DType::f32));
  const Tensor apart(std::vector<std::int64_t>{0, 10, 20}, {3});
  EXPECT_EQ(block.forward(x).dtype(), DType::f32);
  EXPECT_NE(block.forward(x).value().to_vector(), block.forward(x, {.positions = apart.view()}).value().to_vector());
}

BlockOptions small(NormOrder order = NormOrder::pre, std::optional<std::int64_t> d_context = std::nullopt) {
  return {.attention = {.d_model = 6, .heads = 2}, .d_context = d_context, .d_ff = 5, .order = order};
}

TEST(TransformerStack, ALaterTokenChangesNothingBeforeItInADecoder) {
  const TransformerStack decoder = made({.kind = StackKind::decoder, .layers = 3, .block = small()});
  const TransformerStack encoder = made({.layers = 3, .block = small()});
  const Tensor x = normal({1, 5, 6}, 1);
  Tensor changed(x.view());
  for (std::int64_t d = 0; d < 6; ++d) changed.set({0, 3, d}, -2.0 * static_cast<double>(d));
  const auto first_three = [](const TransformerStack& stack, const Tensor& tokens) {
    return stack.forward(Variable(tokens)).value().slice(1, 0, 3).to_vector();
  };
  EXPECT_EQ(first_three(decoder, x), first_three(decoder, changed));
  EXPECT_NE(first_three(encoder, x), first_three(encoder, changed));
}

TEST(TransformerStack, KeepsTheCallersMaskBesideCausal) {
  const TransformerStack decoder = made({.kind = StackKind::decoder, .layers = 1, .block = small()});
  const Trace trace({"*weights"});
  (void)decoder.forward(Variable(normal({1, 4, 6}, 1)), {.attention = {.mask = window(2)}, .trace = &trace});
  const Tensor weights = trace["blocks.0.attn.weights"];
  EXPECT_EQ(weights.at({0, 0, 3, 1}), 0);
  EXPECT_EQ(weights.at({0, 0, 1, 2}), 0);
  EXPECT_GT(weights.at({0, 0, 3, 2}), 0);
}

TEST(TransformerStack, PlansTheMaskOfItsBlocksOnce) {
  const TransformerStack stack = made({.kind = StackKind::decoder, .layers = 3, .block = small()}, DType::f32);
  std::int64_t asked = 0;
  const Mask mask = predicate("thirds", [&](const Place& place, const MaskShape&) {
    ++asked;
    return (place.i + place.j) % 3 != 1;
  });
  const Variable x(normal({2, 5, 6}, 3, DType::f32));
  const Variable out = stack.forward(x, {.attention = {.mask = mask, .target = "scalar"}});
  EXPECT_EQ(asked, 2 * 2 * 5 * 5);
  backward(sum(out));
  EXPECT_EQ(asked, 2 * 2 * 5 * 5);
}

TEST(TransformerStack, IsItsBlocksOneAfterAnother) {
  const TransformerStack stack = made({.layers = 2, .block = small(NormOrder::post)});
  const Variable x(normal({2, 3, 6}, 1));
  EXPECT_EQ(stack.forward(x).value().to_vector(),
            stack.blocks()[1].forward(stack.blocks()[0].forward(x)).value().to_vector());
  EXPECT_EQ(stack.parameters().back().name, "blocks.1.ffn.down.bias");
  const TransformerStack normed = made({.layers = 1, .block = small()});
  const Trace trace;
  const Variable out = normed.forward(x, {.trace = &trace});
  expect_close(out, oracle::norm_of(1e-5, normed.parameters(), "ln_final.").forward(trace["blocks.0.resid_post"]));
  EXPECT_EQ(trace["ln_final"].to_vector(), out.value().to_vector());
}

TEST(TransformerStack, NoTwoLayersDropTheSamePlaces) {
  const TransformerStack stack = made({.layers = 2, .block = small()});
  const Trace trace({"*dropped"});
  (void)stack.forward(Variable(normal({1, 8, 6}, 1)),
                      {.attention = {.dropout = Dropout{.p = 0.5, .seed = 9}}, .trace = &trace});
  const auto zeros = [&](const std::string& name) {
    std::vector<bool> places;
    for (const double weight : trace[name].to_vector()) places.push_back(weight == 0);
    return places;
  };
  EXPECT_NE(zeros("blocks.0.attn.dropped"), zeros("blocks.1.attn.dropped"));
}

TEST(TransformerStack, ReadsNoPaddingOfItsContext) {
  const TransformerStack encoder = made({.layers = 2, .block = small()});
  const TransformerStack decoder = made({.kind = StackKind::decoder, .layers = 2, .block = small(NormOrder::pre, 6)});
  const Variable target(normal({2, 3, 6}, 2));
  const AttentionOptions padding{.mask = key_lengths({4, 2})};
  const auto out_of = [&](const Tensor& source) {
    const Variable memory = encoder.forward(Variable(source), {.attention = padding});
    return decoder.forward_cross(target, memory, {.cross_attention = padding}).value().to_vector();
  };
  const Tensor source = normal({2, 4, 6}, 1);
  Tensor padded(source.view());
  padded.set({1, 3, 0}, 1e3);
  EXPECT_EQ(out_of(padded), out_of(source));
}

TEST(Transformer, HasTheGradientOfCentralDifferences) {
  for (const auto& [order, norm] :
       {std::pair{NormOrder::pre, NormKind::layer}, {NormOrder::both, NormKind::rms_plus_one}}) {
    const TransformerStack stack = made(options(order, norm, 6));
    const Operation operation = [&](const std::vector<Variable>& x) {
      return stack.forward_cross(x[0], x[1], {.dropout = Dropout{.p = 0.2, .seed = 3}});
    };
    EXPECT_THAT(gradient_fault(operation, {normal_numbers(1, {2, 3, 8}), normal_numbers(2, {2, 2, 6})}), IsEmpty());
  }
}

Tensor filled(const Shape& shape, double value) {
  return {std::vector<float>(static_cast<std::size_t>(shape.product()), static_cast<float>(value)), shape};
}

std::vector<std::vector<double>> gradients(BlockMemory memory, DType dtype) {
  const TransformerStack stack = made(options(NormOrder::pre, NormKind::layer), DType::f32);
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

TEST(Transformer, RecomputesNothingForATrace) {
  const TransformerStack stack = made(options(NormOrder::pre, NormKind::layer));
  const Trace trace;
  EXPECT_EQ(message_of([&] {
              (void)stack.forward(Variable(normal({1, 3, 8}, 1)), {.memory = BlockMemory::recompute, .trace = &trace});
            }),
            "TransformerBlock: memory: expected keep if there is a trace, got recompute");
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Transformer, AWatchNamesTheLayerWhoseResultWentBad) {
  const std::vector<std::pair<std::string, std::string>> places = {
      {"blocks.0.ln1.weight", "layer_norm in blocks.0.ln1, [1, 3, 8]"},
      {"blocks.1.attn.k.weight", "linear in blocks.1.attn.k, [1, 3, 8]"},
      {"blocks.1.attn.out.bias", "linear in blocks.1.attn.out, [1, 3, 8]"},
      {"blocks.1.ln_cross.bias", "layer_norm in blocks.1.ln_cross, [1, 3, 8]"},
      {"blocks.0.cross.v.weight", "linear in blocks.0.cross.v, [1, 2, 8]"},
      {"blocks.0.ffn.up.weight", "linear in blocks.0.ffn.up, [1, 3, 12]"},
      {"blocks.1.ffn.down.bias", "linear in blocks.1.ffn.down, [1, 3, 8]"},
      {"ln_final.weight", "layer_norm in ln_final, [1, 3, 8]"}};
  for (const auto& [name, expected] : places) {
    const TransformerStack stack = made(options(NormOrder::pre, NormKind::layer, 6), DType::f32);
    const Parameters all = stack.parameters();
    assign(all, name, filled(value_of(all, name).shape(), kInfinity));
    const NonFiniteWatch watch;
    static_cast<void>(
        stack.forward_cross(Variable(normal({1, 3, 8}, 1, DType::f32)), Variable(normal({1, 2, 6}, 2, DType::f32))));
    EXPECT_EQ(watch.first(), "the result of " + expected) << name;
  }
}

TEST(Transformer, AWatchNamesWhereAGradientWentBad) {
  for (const BlockMemory memory : {BlockMemory::keep, BlockMemory::recompute}) {
    const TransformerStack stack = made(options(NormOrder::post, NormKind::layer), DType::f32);
    const Variable y = stack.forward(Variable(normal({1, 3, 8}, 1, DType::f32)), {.memory = memory});
    const NonFiniteWatch watch;
    const OperationScope elsewhere("elsewhere");
    backward(y, filled(y.shape(), 3e38));  // finite, unlike sums of it
    EXPECT_EQ(watch.first(), "a gradient that layer_norm in blocks.1.ln2 passes back, [1, 3, 8]");
  }
}

TEST(Transformer, CountsItsParameters) {
  const TransformerStack stack(options(NormOrder::pre, NormKind::layer), Init::undrawn());
  const std::int64_t block = 2 * (2 * 8) + 4 * (8 * 8 + 8) + (12 * 8 + 12) + (8 * 12 + 8);
  EXPECT_EQ(parameter_count(stack.parameters()), 2 * (block + 8));
  EXPECT_EQ(stack.parameters().front().name, "blocks.0.ln1.weight");
  EXPECT_EQ(stack.parameters().back().name, "ln_final.bias");
}

TEST(Transformer, NamesWhatDoesNotFit) {
  const Variable x(normal({1, 3, 6}, 1));
  const TransformerBlock plain(small(), Init::undrawn(), DType::f64);
  const TransformerBlock cross(small(NormOrder::pre, 4), Init::undrawn(), DType::f64);
  EXPECT_EQ(message_of([&] { (void)plain.forward_cross(x, x); }),
            "TransformerBlock: context: expected none without cross-attention, got [1, 3, 6]");
  EXPECT_EQ(message_of([&] { (void)cross.forward(x); }),
            "TransformerBlock: context: expected one for the cross-attention, got none");
  EXPECT_EQ(message_of([&] { (void)cross.forward_cross(x, x); }),
            "MultiHeadAttention: context: expected [B, T, 4], got [1, 3, 6]");
  EXPECT_EQ(message_of([] { (void)made({.layers = 0, .block = small()}); }),
            "TransformerStack: layers: expected 1 or more, got 0");
  BlockOptions both = small(NormOrder::pre, 4);
  both.attention.d_context = 7;
  EXPECT_EQ(message_of([&] { (void)TransformerBlock(both, Init::undrawn()); }),
            "TransformerBlock: attention.d_context: expected none if d_context is given, got 7");
}

}  // namespace
}  // namespace qkv::nn::transformer_test
