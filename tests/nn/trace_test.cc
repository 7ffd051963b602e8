#include "qkv/nn/trace.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <utility>

#include "nn/fixture.h"
#include "oracle/of_layers.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/norm.h"
#include "qkv/autograd/reduce.h"
#include "qkv/autograd/shape.h"
#include "qkv/nn/stack.h"

namespace qkv::nn::trace_test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

BlockOptions llama() {
  return {.attention = {.d_model = 8, .heads = 4, .kv_heads = 2, .rotary = RotaryOptions{.dim = 2}, .softcap = 3.0},
          .d_ff = 12,
          .activation = Activation::silu,
          .feed_forward = FeedForwardKind::gated};
}

BlockOptions plain(NormOrder order = NormOrder::pre) {
  return {.attention = {.d_model = 8, .heads = 2}, .d_ff = 12, .order = order};
}

TransformerBlock made(const BlockOptions& options, DType dtype = DType::f64) {
  Generator generator(3);
  return {options, generator, dtype};
}

const Variable& some_x() {
  static const Variable kX(normal({2, 5, 8}, 1));
  return kX;
}

TEST(Trace, NamesValuesInTheOrderOfComputation) {
  const Trace trace;
  (void)made(plain()).forward(some_x(), {.trace = &trace});
  EXPECT_THAT(trace.names(),
              ElementsAre("resid_pre", "ln1", "attn.q", "attn.k", "attn.v", "attn.heads", "attn.concat", "attn.out",
                          "attn", "resid_mid", "ln2", "ffn.up", "ffn.activated", "ffn.down", "ffn", "resid_post"));
  EXPECT_THAT(trace.attentions(), ElementsAre("attn"));
  (void)made(plain(NormOrder::post)).forward(some_x(), {.trace = &trace});
  EXPECT_THAT(trace.names(), ElementsAre("resid_pre", "attn.q", "attn.k", "attn.v", "attn.heads", "attn.concat",
                                         "attn.out", "attn", "resid_mid", "ln1", "ffn.up", "ffn.activated", "ffn.down",
                                         "ffn", "resid_ffn", "ln2", "resid_post"));
  (void)made(llama()).forward(some_x(), {.trace = &trace});
  EXPECT_THAT(trace.names(), ElementsAre("resid_pre", "ln1", "attn.q", "attn.q_rotated", "attn.k", "attn.k_rotated",
                                         "attn.v", "attn.heads", "attn.concat", "attn.out", "attn", "resid_mid", "ln2",
                                         "ffn.gate", "ffn.up", "ffn.activated", "ffn.down", "ffn", "resid_post"));
}

TEST(Trace, HasWhatNormsDivideByOnlyWhereItIsNamed) {
  for (const NormKind kind : {NormKind::layer, NormKind::rms, NormKind::rms_plus_one}) {
    BlockOptions options = plain(NormOrder::both);
    options.norm = kind;
    options.attention.qk_norm = 1e-6;
    const TransformerBlock block = made(options);
    Trace all;
    const Variable out = block.forward(some_x(), {.trace = &all});
    EXPECT_FALSE(all.contains("ln1.divisor"));
    Trace named({"*.divisor", "resid_pre"});
    const Variable again = block.forward(some_x(), {.trace = &named});
    EXPECT_THAT(named.names(), ElementsAre("resid_pre", "ln1.divisor", "attn.q.divisor", "attn.k.divisor",
                                           "attn_norm.divisor", "ln2.divisor", "ffn_norm.divisor"));
    EXPECT_EQ(named["attn.q.divisor"].shape(), (Shape{2, 2, 5, 1}));
    const std::vector<double> x = named["resid_pre"].view().select(0, 1).select(0, 3).to_vector();
    double mean = 0;
    for (const double value : x) mean += kind == NormKind::layer ? value / 8 : 0;
    double square = 0;
    for (const double value : x) square += (value - mean) * (value - mean) / 8;
    EXPECT_NEAR(named["ln1.divisor"].at({1, 3, 0}), std::sqrt(square + options.epsilon), 1e-12);
    for (std::int64_t n = 0; n < 8; ++n) {
      EXPECT_NEAR(again.value().at({1, 4, n}), out.value().at({1, 4, n}), 1e-10);
    }
    // Twice the divisor is half the norm.
    Trace edited({"ln1"});
    edited.edit("ln1.divisor", [](const Variable& divisor) { return divisor * 2.0; });
    (void)block.forward(some_x(), {.trace = &edited});
    EXPECT_NEAR(edited["ln1"].at({1, 3, 2}), all["ln1"].at({1, 3, 2}) / 2, 1e-10);
  }
}

// The gradient through the plain operations is that of the norm.
TEST(Trace, HasTheSameGradientsBesideADivisor) {
  const TransformerBlock block = made(plain());
  const auto gradient_with = [&](const Trace& trace) {
    const Variable x = Variable::parameter(Tensor(some_x().value()));
    const Variable out = block.forward(x, {.trace = &trace});
    backward(sum(out * out));
    return Tensor(x.gradient());
  };
  const Tensor plain_gradient = gradient_with(Trace({"ln1"}));
  const Tensor divided = gradient_with(Trace({"ln*.divisor"}));
  for (std::int64_t n = 0; n < 8; ++n) EXPECT_NEAR(divided.at({1, 2, n}), plain_gradient.at({1, 2, n}), 1e-9);
}

TEST(Trace, NamesTheBlocksOfAStack) {
  BlockOptions reading = plain();
  reading.d_context = 6;
  Generator generator(3);
  const TransformerStack stack({.kind = StackKind::decoder, .layers = 2, .block = reading}, generator, DType::f64);
  const Trace trace;
  const Variable out = stack.forward_cross(some_x(), Variable(normal({2, 3, 6}, 2)), {.trace = &trace});
  EXPECT_THAT(trace.attentions(), ElementsAre("blocks.0.attn", "blocks.0.cross", "blocks.1.attn", "blocks.1.cross"));
  EXPECT_THAT(trace.names(), Contains("blocks.1.ln_cross"));
  EXPECT_THAT(trace.names(), Contains("blocks.1.resid_cross"));
  EXPECT_EQ(trace["blocks.0"].to_vector(), trace["blocks.1.resid_pre"].to_vector());
  EXPECT_EQ(trace["ln_final"].to_vector(), out.value().to_vector());
  EXPECT_EQ(trace["blocks.1.cross.weights"].shape(), (Shape{2, 2, 5, 3}));
}

TEST(Trace, KeepsWhatAPatternNames) {
  const Trace trace({"attn.*", "*_mid"});
  (void)made(plain()).forward(some_x(), {.trace = &trace});
  EXPECT_THAT(trace.names(),
              ElementsAre("attn.q", "attn.k", "attn.v", "attn.heads", "attn.concat", "attn.out", "resid_mid"));
  EXPECT_TRUE(trace.contains("attn.weights"));
  EXPECT_TRUE(trace.contains("attn.q"));
  EXPECT_FALSE(trace.contains("ln1"));
  const Trace nothing(std::vector<std::string>{});
  (void)made(plain()).forward(some_x(), {.trace = &nothing});
  EXPECT_THAT(nothing.names(), IsEmpty());
  EXPECT_THAT(nothing.attentions(), IsEmpty());
}

TEST(Trace, HasTheShapesOfTheHeads) {
  const Trace trace;
  (void)made(llama()).forward(some_x(), {.attention = {.mask = causal()}, .trace = &trace});
  EXPECT_EQ(trace["attn.q"].shape(), (Shape{2, 4, 5, 2}));
  EXPECT_EQ(trace["attn.k_rotated"].shape(), (Shape{2, 2, 5, 2}));
  EXPECT_EQ(trace["attn.heads"].shape(), (Shape{2, 4, 5, 2}));
  EXPECT_EQ(trace["attn.concat"].shape(), (Shape{2, 5, 8}));
  EXPECT_EQ(trace["attn.raw"].shape(), (Shape{2, 4, 5, 5}));
  EXPECT_EQ(trace["attn.masked"].at({0, 0, 0, 1}), -std::numeric_limits<double>::infinity());
  EXPECT_NEAR(trace["attn.scaled"].at({1, 2, 3, 0}), trace["attn.raw"].at({1, 2, 3, 0}) / std::sqrt(2.0),
              kF64Tolerance);
}

Variable softmaxed_heads(const Trace& trace) {
  const Trace::Attention& call = trace.attention("attn");
  return attention(call.q, call.k, call.v, call.options);
}

// Each value again from those before it. The library's own functions in f64: a rounding or two apart at most.
TEST(Trace, EveryValueFollowsFromThoseBeforeIt) {
  const TransformerBlock block = made(llama());
  shake(block.parameters());
  const Parameters all = block.parameters();
  const Trace trace;
  (void)block.forward(some_x(), {.attention = {.mask = causal()}, .trace = &trace});
  const auto at = [&](const char* name) { return Variable(trace[name]); };
  const auto map = [&](const std::string& name, const char* from) {
    return linear(at(from), Variable(value_of(all, name + ".weight")), Variable(value_of(all, name + ".bias")));
  };
  const auto normed = [&](const std::string& name, const char* from) {
    return layer_norm(at(from), Variable(value_of(all, name + ".weight")), Variable(value_of(all, name + ".bias")));
  };
  const RotaryTables tables = rotary_tables({.dim = 2}, 5);
  EXPECT_EQ(trace["resid_pre"].to_vector(), some_x().value().to_vector());
  expect_close(normed("ln1", "resid_pre"), trace["ln1"], 1e-12);
  expect_close(split_heads(map("attn.q", "ln1"), 4), trace["attn.q"], 1e-12);
  expect_close(split_heads(map("attn.k", "ln1"), 2), trace["attn.k"], 1e-12);
  expect_close(split_heads(map("attn.v", "ln1"), 2), trace["attn.v"], 1e-12);
  expect_close(rotary(at("attn.q"), tables), trace["attn.q_rotated"], 1e-12);
  expect_close(rotary(at("attn.k"), tables), trace["attn.k_rotated"], 1e-12);
  EXPECT_EQ(trace.attention("attn").q.value().to_vector(), trace["attn.q_rotated"].to_vector());
  EXPECT_EQ(trace.attention("attn").out.value().to_vector(), trace["attn.heads"].to_vector());
  expect_close(softmaxed_heads(trace), trace["attn.heads"], 1e-12);
  expect_close(matmul(slice(at("attn.weights"), 1, 3, 4), slice(at("attn.v"), 1, 1, 2)),
               trace["attn.heads"].view().slice(1, 3, 4), 1e-12);
  expect_close(merge_heads(at("attn.heads")), trace["attn.concat"], 0);
  expect_close(map("attn.out", "attn.concat"), trace["attn.out"], 1e-12);
  expect_close(at("attn.out"), trace["attn"], 0);
  expect_close(at("resid_pre") + at("attn"), trace["resid_mid"], 0);
  expect_close(normed("ln2", "resid_mid"), trace["ln2"], 1e-12);
  expect_close(map("ffn.gate", "ln2"), trace["ffn.gate"], 1e-12);
  expect_close(map("ffn.up", "ln2"), trace["ffn.up"], 1e-12);
  expect_close(silu(at("ffn.gate")) * at("ffn.up"), trace["ffn.activated"], 1e-12);
  expect_close(map("ffn.down", "ffn.activated"), trace["ffn.down"], 1e-12);
  expect_close(at("ffn.down"), trace["ffn"], 0);
  expect_close(at("resid_mid") + at("ffn"), trace["resid_post"], 0);
}

TEST(Trace, LeavesTheBitsAsTheyAre) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const TransformerBlock block = made(llama(), dtype);
    const Variable x(normal({2, 5, 8}, 1, dtype));
    const std::vector<double> alone = block.forward(x).value().to_vector();
    const Trace nothing(std::vector<std::string>{});
    const Trace everything;
    EXPECT_EQ(block.forward(x, {.trace = &nothing}).value().to_vector(), alone);
    EXPECT_EQ(block.forward(x, {.trace = &everything}).value().to_vector(), alone);
    EXPECT_EQ(block.forward(x).value().to_vector(), alone);
  }
}

TEST(Trace, EndsWithItsPass) {
  const TransformerBlock block = made(plain());
  const Trace trace;
  (void)block.forward(some_x(), {.trace = &trace});
  const std::vector<double> before = trace["resid_post"].to_vector();
  (void)block.forward(Variable(normal({2, 5, 8}, 7)));
  EXPECT_EQ(trace["resid_post"].to_vector(), before);
}

TEST(Trace, AnEditGoesOnIntoWhatFollows) {
  const TransformerBlock block = made(plain());
  Trace trace;
  trace.edit("ffn", [](const Variable& value) { return scale(value, 0); });
  trace.edit("attn.ou*", [](const Variable& value) { return scale(value, 2); });
  const Variable out = block.forward(some_x(), {.trace = &trace});
  EXPECT_EQ(out.value().to_vector(), trace["resid_mid"].to_vector());
  EXPECT_THAT(trace["ffn"].to_vector(), Each(0));
  const Trace unedited;
  (void)block.forward(some_x(), {.trace = &unedited});
  expect_close(scale(Variable(unedited["attn.out"]), 2), trace["attn.out"], 0);
}

TEST(Trace, EditsRunInTheOrderInWhichTheyWereAdded) {
  Trace trace({"ln1"});
  trace.edit("ln1", [](const Variable& value) { return scale(value, 0); });
  trace.edit("ln1", [](const Variable& value) { return value + Variable(Tensor(std::vector<double>(8, 3), {8})); });
  (void)made(plain()).forward(some_x(), {.trace = &trace});
  EXPECT_THAT(trace["ln1"].to_vector(), Each(3));
}

TEST(Trace, NamesAnEditOfAnotherShape) {
  Trace trace;
  trace.edit("attn.q", [](const Variable& value) { return slice(value, 2, 0, 1); });
  EXPECT_EQ(message_of([&] { (void)made(plain()).forward(some_x(), {.trace = &trace}); }),
            "Trace::edit: attn.q: expected f64 [2, 2, 5, 4], got f64 [2, 2, 1, 4]");
}

TEST(Trace, NamesAnEditThatMetNothing) {
  const auto same = [](const Variable& value) { return value; };
  const auto run = [](const Trace& trace) { (void)made(plain()).forward(some_x(), {.trace = &trace}); };
  Trace trace;
  trace.edit("blocks.9.attn.q", same);
  EXPECT_EQ(
      message_of([&] { run(trace); }),
      "Trace::edit: pattern: expected a pattern of a value that the pass computes, got \"blocks.9.attn.q\", which "
      "met none");
  Trace heads;
  heads.edit_heads("cross.weights", {0}, same);
  EXPECT_THAT(message_of([&] { run(heads); }), testing::HasSubstr("\"cross.weights\", which met none"));
  EXPECT_EQ(message_of([&] { heads.edit("attn.weights", same); }),
            "Trace::edit: pattern: expected a value; the matrices of heads, .masked and .weights, are edited by "
            "edit_heads(), got \"attn.weights\"");
}

TEST(Trace, KeepsGradients) {
  const TransformerBlock block = made(plain());
  const Trace trace;
  const Variable y = block.forward(some_x(), {.trace = &trace});
  const Tensor d_out = normal({2, 5, 8}, 9);
  backward(y, d_out);
  EXPECT_EQ(trace.gradient("resid_post").to_vector(), d_out.to_vector());
  // The gradient of a bias is the sum over tokens of the gradient with respect to what it was added to.
  const auto summed = [&](const char* name) {
    return Tensor(sum(reshape(Variable(trace.gradient(name)), {10, 8}), std::vector<int>{0}).value());
  };
  for (const auto& [value, bias] :
       {std::pair{"ffn", "ffn.down.bias"}, std::pair{"attn.out", "attn.out.bias"}, std::pair{"ln2", "ln2.bias"}}) {
    for (const Parameter& parameter : block.parameters()) {
      if (parameter.name == bias) expect_close(Tensor(parameter.value.gradient()), summed(value), 1e-12);
    }
  }
  EXPECT_EQ(trace.gradient("attn.q").shape(), trace["attn.q"].shape());
}

TEST(Trace, EditsGradientsOnTheirWayBack) {
  const TransformerBlock block = made(plain());
  Trace trace;
  trace.edit_gradient("ffn", [](const Variable& gradient) { return scale(gradient, 0); });
  const Variable y = block.forward(some_x(), {.trace = &trace});
  const Tensor d_out = normal({2, 5, 8}, 9);
  backward(y, d_out);
  EXPECT_THAT(trace.gradient("ffn").to_vector(), Each(0));
  EXPECT_EQ(trace.gradient("resid_mid").to_vector(), d_out.to_vector());
  for (const Parameter& parameter : block.parameters()) {
    if (parameter.name != "ffn.down.bias") continue;
    EXPECT_THAT(parameter.value.gradient().to_vector(), Each(0));
  }
}

TEST(Trace, ItsProbeShowsTheCallThatRan) {
  const TransformerBlock block = made(llama());
  const Trace trace({"attn"});
  (void)block.forward(some_x(), {.attention = {.bias = alibi(), .mask = causal()}, .trace = &trace});
  const Trace::Attention& call = trace.attention("attn");
  const Probe probe = trace.probe("attn");
  for (const Stage stage :
       {Stage::raw, Stage::scaled, Stage::softcapped, Stage::biased, Stage::masked, Stage::weights, Stage::dropped}) {
    const Tensor whole = attention_stage(call.q.value(), call.k.value(), call.options, stage);
    expect_close(trace["attn." + std::string(name_of(stage))], whole, 1e-12);
    // Before the mask a probe shows the true numbers of hidden pairs, as the whole matrix does.
    const Tensor tile = probe.tile({.b = 1, .h = 2, .i_end = 5, .j_end = 5}, stage);
    expect_close(tile, whole.view().select(0, 1).select(0, 2), 1e-12);
  }
}

TEST(Trace, ItsGradientProbeShowsTheWalkThatRan) {
  const TransformerBlock block = made(llama());
  Trace trace;
  // A parameter added to a head's scores gets their gradient.
  const Variable added = Variable::parameter(Tensor(DType::f64, {2, 1, 5, 5}));
  trace.edit_heads("attn.masked", {2}, [&](const Variable& masked) { return masked + added; });
  const Variable y = block.forward(some_x(), {.trace = &trace});
  backward(y, normal({2, 5, 8}, 9));
  const Trace fused({"attn", "attn.heads"});
  backward(block.forward(some_x(), {.trace = &fused}), normal({2, 5, 8}, 9));
  const GradientProbe probe = fused.gradient_probe("attn");
  for (std::int64_t b = 0; b < 2; ++b) {
    expect_close(probe.tile({.b = b, .h = 2, .i_end = 5, .j_end = 5}, Stage::masked),
                 added.gradient().select(0, b).select(0, 0), 1e-12);
  }
  const Trace::Attention& call = fused.attention("attn");
  const Tensor d_out = fused.gradient("attn.heads");
  const GradientProbe again(d_out, call.q.value(), call.k.value(), call.v.value(), call.out.value(), call.lse.value(),
                            call.options);
  EXPECT_EQ(probe.row({.b = 1, .h = 3}, 4).to_vector(), again.row({.b = 1, .h = 3}, 4).to_vector());
}

TEST(Trace, NamesWhatItHasNot) {
  const Trace trace({"ln*"});
  EXPECT_EQ(message_of([&] { (void)trace["ln1"]; }),
            "Trace: name: expected one of none: nothing was kept, got \"ln1\"");
  EXPECT_EQ(message_of([&] { (void)trace.probe("attn"); }),
            "Trace: name: expected an attention that was kept; none was, got \"attn\"");
  (void)made(plain()).forward(some_x(), {.trace = &trace});
  EXPECT_EQ(message_of([&] { (void)trace["attn.q"]; }), "Trace: name: expected one of ln1, ln2, got \"attn.q\"");
  EXPECT_EQ(message_of([&] { (void)trace.gradient("ln1"); }),
            "Trace: name: expected a value that backward() gave a gradient, got \"ln1\"");
  const Trace all;
  (void)made(plain()).forward(some_x(), {.trace = &all});
  EXPECT_EQ(message_of([&] { (void)all.gradient_probe("attn"); }),
            "Trace: name: expected an attention that backward() gave gradients, got \"attn\"");
  EXPECT_EQ(message_of([&] { (void)all.attention("cross"); }), "Trace: name: expected one of attn, got \"cross\"");
}

}  // namespace
}  // namespace qkv::nn::trace_test
