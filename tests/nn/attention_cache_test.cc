// What a layer says token by token is what it says of all tokens at once.
#include <gmock/gmock.h>

#include <algorithm>

#include "nn/fixture.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/shape.h"
#include "qkv/nn/stack.h"

namespace qkv::nn::attention_cache_test {
namespace {

using testing::ElementsAre;

// f32 on both sides: some hundred roundings of 2^-24 of numbers of the order of 2.
constexpr double kTolerance = 2e-5;
constexpr std::int64_t kTokens = 7;

Variable tokens() { return Variable(normal({2, kTokens, 8}, 1, DType::f32)); }

// The outputs of chunks of these lengths, side by side.
template <class Forward>
Variable in_chunks(const Variable& x, const std::vector<std::int64_t>& lengths, const Forward& forward) {
  std::vector<Variable> parts;
  std::int64_t begin = 0;
  for (const std::int64_t length : lengths) {
    parts.push_back(forward(slice(x, 1, begin, begin + length)));
    begin += length;
  }
  return concat(parts, 1);
}

const std::vector<std::vector<std::int64_t>>& chunks() {
  static const std::vector<std::vector<std::int64_t>> kChunks = {{1, 1, 1, 1, 1, 1, 1}, {3, 1, 2, 1}, {7}};
  return kChunks;
}

struct Case {
  std::string name;
  MultiHeadOptions layer;
  AttentionOptions attention;
};

std::vector<Case> cases() {
  const MultiHeadOptions plain{.d_model = 8, .heads = 4, .kv_heads = 2};
  MultiHeadOptions turning = plain;
  turning.rotary = RotaryOptions{.dim = 2};
  turning.qk_norm = 1e-6;
  MultiHeadOptions narrow = plain;
  narrow.window = 3;
  narrow.softcap = 2.0;
  return {{.name = "plain", .layer = plain, .attention = {.mask = causal()}},
          {.name = "rotary", .layer = turning, .attention = {.mask = causal()}},
          {.name = "ALiBi", .layer = plain, .attention = {.bias = alibi(), .mask = causal()}},
          {.name = "window", .layer = narrow, .attention = {.mask = causal()}}};
}

MultiHeadAttention made(const MultiHeadOptions& options) {
  Generator generator(5);
  return {options, generator};
}

KvCache cache_of(const MultiHeadAttention& layer, std::int64_t capacity = kTokens) {
  return KvCache({.format = layer.cache_format(DType::f32), .B = 2, .capacity = capacity});
}

TEST(AttentionCache, TokenByTokenIsAllAtOnce) {
  const NoGradient none;
  for (const Case& one : cases()) {
    const MultiHeadAttention layer = made(one.layer);
    const Variable whole = layer.forward(tokens(), {.attention = one.attention});
    for (const auto& lengths : chunks()) {
      SCOPED_TRACE(one.name);
      KvCache cache = cache_of(layer);
      const Variable parts = in_chunks(tokens(), lengths, [&](const Variable& x) {
        return layer.forward(x, {.attention = one.attention, .cache = &cache});
      });
      expect_close(parts, whole.value(), kTolerance);
      EXPECT_THAT(cache.lengths(), ElementsAre(kTokens, kTokens));
    }
  }
}

// Of 400 tokens a layer with a window of 3 keeps some; numbers and positions are as if it had kept them all.
TEST(AttentionCache, ForgetsWhatItsWindowHides) {
  const NoGradient none;
  const Variable x(normal({2, 400, 8}, 1, DType::f32));
  MultiHeadOptions layer{.d_model = 8, .heads = 4, .kv_heads = 2, .window = 3};
  for (const bool turns : {false, true}) {
    if (turns) layer.rotary = RotaryOptions{.dim = 2};
    const MultiHeadAttention made_layer = made(layer);
    AttentionOptions attention{.mask = causal()};
    if (!turns) attention.bias = alibi();
    const Variable whole = made_layer.forward(x, {.attention = attention});
    for (const std::vector<std::int64_t>& lengths :
         {std::vector<std::int64_t>(400, 1), std::vector<std::int64_t>{300, 1, 1, 90, 8}}) {
      KvCache cache = cache_of(made_layer, 1);
      std::int64_t most = 0;
      const Variable parts = in_chunks(x, lengths, [&](const Variable& chunk) {
        Variable out = made_layer.forward(chunk, {.attention = attention, .cache = &cache, .forgets = true});
        most = std::max(most, cache.length(0));
        return out;
      });
      expect_close(parts, whole.value(), kTolerance);
      EXPECT_EQ(cache.forgotten(1) + cache.length(1), 400);
      EXPECT_LE(most, made_layer.held_tokens(400));
      EXPECT_LT(cache.capacity(0), 300);
    }
  }
}

TEST(AttentionCache, HasTheDigitsOfAllAtOnceInF64) {
  const NoGradient none;
  const Variable x(normal({2, kTokens, 8}, 1));
  for (const Case& one : cases()) {
    Generator generator(5);
    const MultiHeadAttention layer(one.layer, generator, DType::f64);
    KvCache cache({.format = layer.cache_format(DType::f64), .B = 2, .capacity = kTokens});
    const Variable parts = in_chunks(x, {3, 1, 2, 1}, [&](const Variable& chunk) {
      return layer.forward(chunk, {.attention = one.attention, .cache = &cache});
    });
    EXPECT_EQ(parts.value().to_vector(), layer.forward(x, {.attention = one.attention}).value().to_vector())
        << one.name;
  }
}

TEST(AttentionCache, RemembersAContext) {
  const NoGradient none;
  const MultiHeadAttention layer = made({.d_model = 8, .heads = 4, .kv_heads = 2, .d_context = 6});
  const Variable context(normal({2, 4, 6}, 2, DType::f32));
  const AttentionOptions padding{.mask = key_lengths({4, 2})};
  KvCache cache = cache_of(layer, 4);
  layer.read_context(context, cache);
  const Variable whole = layer.forward_cross(tokens(), context, {.attention = padding});
  expect_close(layer.forward_remembered(tokens(), {.attention = padding, .cache = &cache}), whole.value(), kTolerance);
}

TEST(AttentionCache, IsTracedAsOtherCallsAre) {
  const NoGradient none;
  const MultiHeadAttention layer = made({.d_model = 8, .heads = 4, .kv_heads = 2});
  const Trace whole;
  (void)layer.forward(tokens(), {.attention = {.mask = causal()}, .trace = &whole});
  const Trace last;
  KvCache cache = cache_of(layer);
  (void)in_chunks(tokens(), {6, 1}, [&](const Variable& x) {
    return layer.forward(x, {.attention = {.mask = causal()}, .cache = &cache, .trace = &last});
  });
  EXPECT_EQ(last["weights"].shape(), (Shape{2, 4, 1, kTokens}));
  expect_close(last["weights"], whole["weights"].view().slice(2, 6, 7), kTolerance);
  expect_close(last["heads"], whole["heads"].view().slice(2, 6, 7), kTolerance);
}

TEST(AttentionCache, EditsHeadsAsOtherCallsDo) {
  const NoGradient none;
  const MultiHeadAttention layer = made({.d_model = 8, .heads = 4, .kv_heads = 2});
  const auto without_two = [](Trace& trace) {
    trace.edit_heads("weights", {1, 2}, [](const Variable& weights) { return weights * 0.5; });
  };
  Trace whole;
  without_two(whole);
  const Variable wanted = layer.forward(tokens(), {.attention = {.mask = causal()}, .trace = &whole});
  Trace last;
  without_two(last);
  KvCache cache = cache_of(layer);
  const Variable out = in_chunks(tokens(), {6, 1}, [&](const Variable& x) {
    return layer.forward(x, {.attention = {.mask = causal()}, .cache = &cache, .trace = &last});
  });
  expect_close(out, wanted.value(), kTolerance);
  expect_close(last["weights"], whole["weights"].view().slice(2, 6, 7), kTolerance);
}

TEST(AttentionCache, RefusesToEndGradientsInAContext) {
  const MultiHeadAttention layer = made({.d_model = 8, .heads = 4, .kv_heads = 2, .d_context = 6});
  const Variable context(normal({2, 4, 6}, 2, DType::f32));
  KvCache cache = cache_of(layer, 4);
  const std::string refusal = "MultiHeadAttention: cache: expected none while gradients are recorded, got a cache";
  EXPECT_EQ(message_of([&] { layer.read_context(context, cache); }), refusal);
  {
    const NoGradient none;
    layer.read_context(context, cache);
  }
  EXPECT_EQ(message_of([&] { (void)layer.forward_remembered(tokens(), {.cache = &cache}); }), refusal);
}

TEST(AttentionCache, NamesWhatItCannotServe) {
  const MultiHeadAttention layer = made({.d_model = 8, .heads = 2});
  KvCache cache = cache_of(layer, 2);
  EXPECT_EQ(message_of([&] { (void)layer.forward(tokens(), {.cache = &cache}); }),
            "MultiHeadAttention: cache: expected none while gradients are recorded, got a cache");
  EXPECT_EQ(message_of([&] { (void)layer.forward_remembered(tokens(), {}); }),
            "MultiHeadAttention: cache: expected one that read_context() has filled, got none");
  const NoGradient none;
  EXPECT_THROW((void)layer.forward(tokens(), {.cache = &cache}), InvalidArgument);
  EXPECT_THAT(cache.lengths(), ElementsAre(0, 0));
}

TransformerStack stack_of(std::optional<std::int64_t> d_context, NormOrder order) {
  Generator generator(5);
  return {{.kind = StackKind::decoder,
           .layers = 2,
           .block = {.attention = {.d_model = 8, .heads = 4, .kv_heads = 2, .rotary = RotaryOptions{.dim = 2}},
                     .d_context = d_context,
                     .order = order},
           .vary =
               [](std::int64_t n, BlockOptions& block) {
                 if (n == 1) block.attention.window = 3;
               }},
          generator};
}

TEST(StackCache, TokenByTokenIsAllAtOnce) {
  const NoGradient none;
  const Variable context(normal({2, 4, 6}, 2, DType::f32));
  for (const NormOrder order : {NormOrder::pre, NormOrder::post}) {
    const TransformerStack alone = stack_of(std::nullopt, order);
    const TransformerStack reading = stack_of(6, order);
    const Variable whole = alone.forward(tokens());
    const Variable with_context = reading.forward_cross(tokens(), context);
    for (const auto& lengths : chunks()) {
      StackCache cache = alone.make_cache(2, kTokens, DType::f32);
      expect_close(in_chunks(tokens(), lengths, [&](const Variable& x) { return alone.forward_cached(x, cache); }),
                   whole.value(), kTolerance);
      StackCache other = reading.make_cache(2, kTokens, DType::f32, context);
      expect_close(in_chunks(tokens(), lengths, [&](const Variable& x) { return reading.forward_cached(x, other); }),
                   with_context.value(), kTolerance);
    }
  }
}

TEST(StackCache, NamesWhatDoesNotFit) {
  const NoGradient none;
  const TransformerStack alone = stack_of(std::nullopt, NormOrder::pre);
  const TransformerStack reading = stack_of(6, NormOrder::pre);
  const Variable context(normal({2, 4, 6}, 2, DType::f32));
  StackCache empty;
  EXPECT_EQ(message_of([&] { (void)alone.forward_cached(tokens(), empty); }),
            "TransformerStack: cache: expected one for each of 2 blocks, got 0");
  EXPECT_EQ(message_of([&] { (void)reading.make_cache(2, 4, DType::f32); }),
            "TransformerBlock: context: expected one for the cross-attention, got none");
  EXPECT_EQ(message_of([&] { (void)alone.make_cache(2, 4, DType::f32, context); }),
            "TransformerBlock: context: expected none without cross-attention, got [2, 4, 6]");
  StackCache plain = alone.make_cache(2, 4, DType::f32);
  EXPECT_EQ(message_of([&] { (void)reading.forward_cached(tokens(), plain); }),
            "TransformerBlock: cache: expected one with a context, got the other");
}

}  // namespace
}  // namespace qkv::nn::attention_cache_test
