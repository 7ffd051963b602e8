#include "qkv/nn/transformer.h"

#include <gmock/gmock.h>

#include "nn/fixture.h"

namespace qkv::nn {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;

Tensor normal(const Shape& shape, std::uint64_t seed, DType dtype = DType::f64) {
  return Generator(seed).randn(shape, dtype);
}

TransformerStack made(const StackOptions& options, std::uint64_t seed = 21) {
  Generator generator(seed);
  return {options, generator, DType::f64};
}

Linear linear_from(const Json& fixture, const std::string& prefix) {
  return Linear(tensor_of(fixture.at(prefix + "weight")), tensor_of(fixture.at(prefix + "bias")));
}

Norm norm_from(const Json& fixture, const std::string& name) {
  return LayerNorm({.normalized = {8},
                    .weight = tensor_of(fixture.at(name + ".weight")),
                    .bias = tensor_of(fixture.at(name + ".bias"))});
}

MultiHeadAttention attention_from(const Json& fixture, const std::string& name) {
  const Linear joined = linear_from(fixture, name + ".in_proj_");
  return {{.d_model = 8, .heads = 2},
          {.q = joined.slice(0, 8),
           .k = joined.slice(8, 16),
           .v = joined.slice(16, 24),
           .out = linear_from(fixture, name + ".out_proj.")}};
}

FeedForward feed_forward_from(const Json& fixture, Activation activation) {
  return {linear_from(fixture, "linear1."), linear_from(fixture, "linear2."), activation};
}

TEST(TransformerBlock, AgreesWithPyTorchsEncoderLayer) {
  const Json file = read_fixture("torch_layers.json");
  for (const auto order : {NormOrder::post, NormOrder::pre}) {
    const Json& fixture = file.at(order == NormOrder::pre ? "encoder_pre" : "encoder_post");
    const TransformerBlock block(order, {.ln1 = norm_from(fixture, "norm1"),
                                         .attention = attention_from(fixture, "self_attn"),
                                         .ln2 = norm_from(fixture, "norm2"),
                                         .feed_forward = feed_forward_from(
                                             fixture, order == NormOrder::pre ? Activation::gelu : Activation::relu)});
    expect_close(block.forward(tensor_of(fixture.at("x"))), tensor_of(fixture.at("out")));
  }
}

TEST(TransformerBlock, AgreesWithPyTorchsDecoderLayer) {
  const Json file = read_fixture("torch_layers.json");
  for (const auto order : {NormOrder::post, NormOrder::pre}) {
    const Json& fixture = file.at(order == NormOrder::pre ? "decoder_pre" : "decoder_post");
    const TransformerBlock block(order, {.ln1 = norm_from(fixture, "norm1"),
                                         .attention = attention_from(fixture, "self_attn"),
                                         .ln_cross = norm_from(fixture, "norm2"),
                                         .cross = attention_from(fixture, "multihead_attn"),
                                         .ln2 = norm_from(fixture, "norm3"),
                                         .feed_forward = feed_forward_from(fixture, Activation::gelu)});
    expect_close(block.forward_cross(tensor_of(fixture.at("x")), tensor_of(fixture.at("memory")),
                                     {.attention = {.mask = causal()}}),
                 tensor_of(fixture.at("out")));
  }
}

BlockOptions small(NormOrder order = NormOrder::pre) {
  return {.attention = {.d_model = 6, .heads = 2}, .d_ff = 5, .order = order};
}

BlockOptions reading(std::int64_t d_context) {
  BlockOptions options = small();
  options.d_context = d_context;
  return options;
}

TEST(TransformerBlock, NamesItsIntermediatesInTheOrderOfComputation) {
  Generator generator(1);
  const Tensor x = normal({3, 6}, 1);
  Taps pre({"*"});
  Taps post;
  const Tensor out = TransformerBlock(small(), generator).forward(x, {.taps = &pre});
  EXPECT_THAT(pre.names(), ElementsAre("ln1", "attn.q", "attn.k", "attn.v", "attn.scores", "attn.scaled",
                                       "attn.weights", "attn.heads", "attn.concat", "attn.out", "resid_mid", "ln2",
                                       "ffn.hidden", "ffn.activated", "ffn.out", "resid_out"));
  EXPECT_EQ(pre["resid_out"].to_vector(), out.to_vector());
  const Tensor normed = TransformerBlock(small(NormOrder::post), generator).forward(x, {.taps = &post});
  EXPECT_THAT(post.names(),
              ElementsAre("attn.q", "attn.k", "attn.v", "attn.heads", "attn.concat", "attn.out", "resid_mid", "ln1",
                          "ffn.hidden", "ffn.activated", "ffn.out", "resid_out", "ln2"));
  EXPECT_EQ(post["ln2"].to_vector(), normed.to_vector());
}

TEST(TransformerBlock, TapsOfTheSameNumbersAreConsistent) {
  Generator generator(1);
  const Tensor x = normal({3, 6}, 1);
  Taps taps;
  (void)TransformerBlock(small(), generator).forward(x, {.taps = &taps});
  for (std::int64_t t = 0; t < 3; ++t) {
    for (std::int64_t d = 0; d < 6; ++d) {
      EXPECT_EQ(taps["resid_mid"].at({t, d}), x.at({t, d}) + taps["attn.out"].at({0, t, d}));
      EXPECT_EQ(taps["resid_out"].at({t, d}), taps["resid_mid"].at({t, d}) + taps["ffn.out"].at({t, d}));
    }
  }
}

TEST(TransformerBlock, RootMeanSquareNormAndRotaryMakeALlamaBlock) {
  Generator generator(1);
  const TransformerBlock block(
      {.attention = {.d_model = 8, .heads = 4, .kv_heads = 2, .bias = false, .rotary = RotaryOptions{.dim = 2}},
       .norm = NormKind::rms,
       .epsilon = 1e-6},
      generator);
  EXPECT_TRUE(std::holds_alternative<RMSNorm>(block.parts().ln1));
  EXPECT_FALSE(block.parts().feed_forward.up().bias().has_value());
  EXPECT_EQ(block.parts().feed_forward.up().out(), 32);
  const Tensor x = normal({2, 3, 8}, 1, DType::f32);
  const Tensor apart(std::vector<std::int64_t>{0, 10, 20}, {3});
  EXPECT_EQ(block.forward(x).dtype(), DType::f32);
  EXPECT_NE(block.forward(x).to_vector(), block.forward(x, {.positions = apart}).to_vector());
}

TEST(TransformerStack, ALaterTokenChangesNothingBeforeItInADecoder) {
  const TransformerStack decoder = made({.kind = StackKind::decoder, .layers = 3, .block = small()});
  const TransformerStack encoder = made({.layers = 3, .block = small()});
  const Tensor x = normal({5, 6}, 1);
  Tensor changed = x;
  for (std::int64_t d = 0; d < 6; ++d) changed.set({3, d}, -2.0 * static_cast<double>(d));
  const auto first_three = [](const Tensor& rows) { return Tensor(rows.view().slice(0, 0, 3)).to_vector(); };
  EXPECT_EQ(first_three(decoder.forward(x)), first_three(decoder.forward(changed)));
  EXPECT_NE(first_three(encoder.forward(x)), first_three(encoder.forward(changed)));
}

TEST(TransformerStack, KeepsTheCallersMaskBesideCausal) {
  const TransformerStack decoder = made({.kind = StackKind::decoder, .layers = 1, .block = small()});
  Taps taps({"*weights"});
  (void)decoder.forward(normal({4, 6}, 1), {.attention = {.mask = window(2)}, .taps = &taps});
  const Tensor& weights = taps["blocks.0.attn.weights"];
  EXPECT_EQ(weights.at({0, 0, 3, 1}), 0);
  EXPECT_EQ(weights.at({0, 0, 1, 2}), 0);
  EXPECT_GT(weights.at({0, 0, 3, 2}), 0);
}

TEST(TransformerStack, IsItsBlocksOneAfterAnother) {
  const TransformerStack stack = made({.layers = 2, .block = small(NormOrder::post)});
  const Tensor x = normal({2, 3, 6}, 1);
  EXPECT_FALSE(stack.last().has_value());
  EXPECT_EQ(stack.forward(x).to_vector(), stack.blocks()[1].forward(stack.blocks()[0].forward(x)).to_vector());
  const TransformerStack normed = made({.layers = 1, .block = small()});
  Taps taps;
  const Tensor out = normed.forward(x, {.taps = &taps});
  EXPECT_EQ(out.to_vector(), normalize(*normed.last(), taps["blocks.0.resid_out"]).to_vector());
  EXPECT_EQ(taps["ln_final"].to_vector(), out.to_vector());
}

TEST(TransformerStack, BothHeadOrdersAgree) {
  const TransformerStack stack = made({.kind = StackKind::decoder, .layers = 2, .block = small()});
  const Tensor x = normal({2, 5, 6}, 1);
  const AttentionOptions attention{.bias = alibi(), .dropout = Dropout{.p = 0.2, .seed = 9}};
  expect_close(stack.forward(x, {.attention = attention, .order = HeadOrder::one_by_one}),
               stack.forward(x, {.attention = attention}));
}

TEST(TransformerStack, NoTwoLayersDropTheSamePlaces) {
  const TransformerStack stack = made({.layers = 2, .block = small()});
  Taps taps({"*dropped"});
  (void)stack.forward(normal({8, 6}, 1), {.attention = {.dropout = Dropout{.p = 0.5, .seed = 9}}, .taps = &taps});
  const auto zeros = [&](const std::string& name) {
    std::vector<bool> places;
    for (const double weight : taps[name].to_vector()) places.push_back(weight == 0);
    return places;
  };
  EXPECT_NE(zeros("blocks.0.attn.dropped"), zeros("blocks.1.attn.dropped"));
}

TEST(EncoderDecoder, TheDecoderReadsTheEncodersOutput) {
  const EncoderDecoder model(made({.layers = 2, .block = small()}),
                             made({.kind = StackKind::decoder, .layers = 2, .block = reading(6)}));
  const Tensor source = normal({2, 4, 6}, 1);
  const Tensor target = normal({2, 3, 6}, 2);
  Taps taps({"*"});
  const AttentionOptions padding{.mask = key_lengths({4, 2})};
  const Tensor out = model.forward(source, target, {.encoder = padding, .cross = padding, .taps = &taps});
  EXPECT_EQ(out.shape(), target.shape());
  EXPECT_THAT(taps.names(), IsSupersetOf({"encoder.ln_final", "decoder.blocks.1.ln_cross",
                                          "decoder.blocks.1.cross.weights", "decoder.blocks.1.resid_cross"}));
  EXPECT_EQ(taps["decoder.blocks.0.cross.weights"].shape(), (Shape{2, 2, 3, 4}));
  EXPECT_EQ(taps["decoder.blocks.0.cross.weights"].at({1, 0, 0, 2}), 0);
  const Tensor by_hand = model.decoder().forward_cross(target, model.encoder().forward(source, {.attention = padding}),
                                                       {.cross_attention = padding});
  EXPECT_EQ(out.to_vector(), by_hand.to_vector());
  Tensor padded = source;
  padded.set({1, 3, 0}, 1e3);
  EXPECT_EQ(model.forward(padded, target, {.encoder = padding, .cross = padding}).to_vector(), out.to_vector());
}

TEST(FeedForward, NamesWhatDoesNotFit) {
  Generator generator(1);
  const auto linear = [](std::int64_t out, std::int64_t in) { return Linear(Tensor(DType::f32, {out, in})); };
  EXPECT_EQ(message_of([&] { (void)FeedForward(linear(5, 4), linear(4, 6)); }),
            "FeedForward: down: expected [4, 5], got [4, 6]");
  EXPECT_EQ(message_of([&] { (void)FeedForward({.d_model = 4, .d_ff = 0}, generator); }),
            "FeedForward: d_ff: expected 1 or more, got 0");
}

TEST(TransformerBlock, NamesWhatDoesNotFit) {
  Generator generator(1);
  const TransformerBlock plain(small(), generator);
  const TransformerBlock cross(reading(4), generator);
  const Tensor x = normal({3, 6}, 1);
  EXPECT_EQ(message_of([&] { (void)plain.forward(normal({3, 5}, 1)); }),
            "TransformerBlock: x: expected [T, 6] or [B, T, 6], got [3, 5]");
  EXPECT_EQ(message_of([&] { (void)plain.forward_cross(x, x); }),
            "TransformerBlock: context: expected none without cross-attention, got [3, 6]");
  EXPECT_EQ(message_of([&] { (void)cross.forward(x); }),
            "TransformerBlock: context: expected one for the cross-attention, got none");
  EXPECT_EQ(message_of([&] { (void)cross.forward_cross(x, x); }),
            "MultiHeadAttention: context: expected [T, 4] or [B, T, 4], got [3, 6]");
  BlockOptions odd = small();
  odd.attention.d_context = 7;
  EXPECT_EQ(message_of([&] { (void)TransformerBlock(odd, generator); }),
            "TransformerBlock: attention.d_context: expected a width of d_model, 6, got 7");
}

std::string parts_message(const BlockParts& parts) {
  return message_of([&] { (void)TransformerBlock(NormOrder::pre, parts); });
}

TEST(TransformerBlock, NamesThePartThatDoesNotFit) {
  Generator generator(1);
  const BlockParts good = TransformerBlock(reading(4), generator).parts();
  const Norm narrow = LayerNorm({.normalized = {5}});
  BlockParts bad = good;
  bad.ln1 = narrow;
  EXPECT_EQ(parts_message(bad), "TransformerBlock: ln1: expected [6], got [5]");
  bad = good;
  bad.ln2 = narrow;
  EXPECT_EQ(parts_message(bad), "TransformerBlock: ln2: expected [6], got [5]");
  bad = good;
  bad.ln_cross = narrow;
  EXPECT_EQ(parts_message(bad), "TransformerBlock: ln_cross: expected [6], got [5]");
  bad = good;
  bad.ln_cross.reset();
  EXPECT_EQ(parts_message(bad),
            "TransformerBlock: ln_cross: expected both ln_cross and cross, or neither, got one of them");
  bad = good;
  bad.cross = MultiHeadAttention({.d_model = 8}, generator);
  EXPECT_EQ(parts_message(bad), "TransformerBlock: cross: expected a width of d_model, 6, got 8");
  bad = good;
  bad.feed_forward = FeedForward({.d_model = 8}, generator);
  EXPECT_EQ(parts_message(bad), "TransformerBlock: feed_forward: expected a width of d_model, 6, got 8");
}

TEST(TransformerStack, NamesWhatDoesNotFit) {
  Generator generator(1);
  const TransformerBlock plain(small(), generator);
  const TransformerBlock cross(reading(6), generator);
  const TransformerBlock wide({.attention = {.d_model = 8}}, generator);
  const auto message = [](const std::vector<TransformerBlock>& blocks, const std::optional<Norm>& last = std::nullopt) {
    return message_of([&] { (void)TransformerStack(StackKind::encoder, blocks, last); });
  };
  EXPECT_EQ(message({}), "TransformerStack: blocks: expected 1 or more, got 0");
  EXPECT_EQ(message({plain, wide}), "TransformerStack: blocks: expected every d_model 6, got 8");
  EXPECT_EQ(message({plain, cross}),
            "TransformerStack: blocks: expected cross-attention in all or in none, got some of each");
  EXPECT_EQ(message({plain}, LayerNorm({.normalized = {5}})), "TransformerStack: last: expected [6], got [5]");
  EXPECT_EQ(message_of([] { (void)made({.layers = 0, .block = small()}); }),
            "TransformerStack: layers: expected 1 or more, got 0");
  EXPECT_EQ(message_of([] { (void)made({.block = small()}).forward(Tensor(DType::f32, {3, 5})); }),
            "TransformerStack: x: expected [T, 6] or [B, T, 6], got [3, 5]");
}

TEST(EncoderDecoder, NamesTheStackThatDoesNotFit) {
  const TransformerStack encoder = made({.block = small()});
  const TransformerStack decoder = made({.kind = StackKind::decoder, .block = reading(6)});
  const auto message = [](const TransformerStack& first, const TransformerStack& second) {
    return message_of([&] { (void)EncoderDecoder(first, second); });
  };
  EXPECT_EQ(message(decoder, decoder), "EncoderDecoder: encoder: expected an encoder stack, got a decoder stack");
  EXPECT_EQ(message(made({.block = reading(6)}), decoder),
            "EncoderDecoder: encoder: expected no cross-attention, got cross-attention");
  EXPECT_EQ(message(encoder, encoder), "EncoderDecoder: decoder: expected a decoder stack, got an encoder stack");
  EXPECT_EQ(message(encoder, made({.kind = StackKind::decoder, .block = small()})),
            "EncoderDecoder: decoder: expected cross-attention in every block, got a block without it");
  EXPECT_EQ(message(encoder, made({.kind = StackKind::decoder, .block = reading(5)})),
            "EncoderDecoder: decoder: expected a context of the encoder's d_model, 6, got 5");
}

}  // namespace
}  // namespace qkv::nn
