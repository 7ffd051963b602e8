#include "qkv/nn/multi_head_attention.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "nn/fixture.h"

namespace qkv::nn {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;

Tensor normal(const Shape& shape, std::uint64_t seed, DType dtype = DType::f64) {
  return Generator(seed).randn(shape, dtype);
}

MultiHeadAttention made(const MultiHeadOptions& options, std::uint64_t seed = 11, DType dtype = DType::f64) {
  Generator generator(seed);
  return {options, generator, dtype};
}

// in_proj holds q, k and v one above the other.
MultiHeadAttention from_pytorch(const Json& fixture) {
  const Linear joined(tensor_of(fixture.at("in_proj_weight")), tensor_of(fixture.at("in_proj_bias")));
  const Linear out(tensor_of(fixture.at("out_proj.weight")), tensor_of(fixture.at("out_proj.bias")));
  return {{.d_model = 8, .heads = 2},
          {.q = joined.slice(0, 8), .k = joined.slice(8, 16), .v = joined.slice(16, 24), .out = out}};
}

TEST(MultiHeadAttention, AgreesWithPyTorch) {
  const Json fixture = read_fixture("torch_layers.json").at("attention");
  const MultiHeadAttention layer = from_pytorch(fixture);
  const Tensor x = tensor_of(fixture.at("x"));
  const Tensor context = tensor_of(fixture.at("context"));
  for (const auto order : {HeadOrder::packed, HeadOrder::one_by_one}) {
    expect_close(layer.forward(x, {.order = order}), tensor_of(fixture.at("self_out")));
    expect_close(layer.forward(x, {.attention = {.mask = causal()}, .order = order}),
                 tensor_of(fixture.at("causal_out")));
    expect_close(layer.forward(x, {.attention = {.mask = key_lengths({3, 2})}, .order = order}),
                 tensor_of(fixture.at("padded_out")));
    expect_close(layer.forward_cross(x, context, {.order = order}), tensor_of(fixture.at("cross_out")));
  }
}

TEST(MultiHeadAttention, ItsWeightsAgreeWithPyTorch) {
  const Json fixture = read_fixture("torch_layers.json").at("attention");
  const MultiHeadAttention layer = from_pytorch(fixture);
  Taps taps({"weights"});
  (void)layer.forward(tensor_of(fixture.at("x")), {.attention = {.mask = causal()}, .taps = &taps});
  expect_close(taps["weights"], tensor_of(fixture.at("causal_weights")));
  (void)layer.forward_cross(tensor_of(fixture.at("x")), tensor_of(fixture.at("context")), {.taps = &taps});
  expect_close(taps["weights"], tensor_of(fixture.at("cross_weights")));
}

AttentionOptions some_attention(std::int64_t heads, std::int64_t B, std::int64_t Tq, std::int64_t Tk) {
  const auto lengths = *rc::gen::container<std::vector<std::int64_t>>(static_cast<std::size_t>(B),
                                                                      rc::gen::inRange<std::int64_t>(0, Tk + 1));
  const Tensor by_head = Generator(9).randint(0, 2, {heads, Tq, Tk});
  AttentionOptions options;
  options.mask = *rc::gen::element(all(), causal(), window(2) | global_tokens(1), key_lengths(lengths), none(),
                                   dense(by_head.to(DType::u8)));
  options.bias = *rc::gen::element(Bias(), alibi(), dense_bias(normal({heads, Tq, Tk}, 8)));
  if (*rc::gen::arbitrary<bool>()) options.softcap = 1.5;
  if (*rc::gen::arbitrary<bool>()) options.scale = 0.7;
  if (*rc::gen::arbitrary<bool>()) options.dropout = Dropout{.p = 0.3, .seed = 5};
  return options;
}

MultiHeadOptions some_sizes() {
  const auto kv_heads = *rc::gen::inRange<std::int64_t>(1, 4);
  MultiHeadOptions options{.d_model = *rc::gen::inRange<std::int64_t>(1, 9),
                           .heads = kv_heads * *rc::gen::inRange<std::int64_t>(1, 4),
                           .kv_heads = kv_heads,
                           .d_k = 2 * *rc::gen::inRange<std::int64_t>(1, 4),
                           .d_v = *rc::gen::inRange<std::int64_t>(1, 6),
                           .d_context = *rc::gen::inRange<std::int64_t>(1, 9),
                           .bias = *rc::gen::arbitrary<bool>()};
  if (*rc::gen::arbitrary<bool>()) options.rotary = RotaryOptions{.dim = 2};
  return options;
}

RC_GTEST_PROP(MultiHeadAttention, PackedAndOneByOneAgreeToRounding, ()) {
  const MultiHeadOptions sizes = some_sizes();
  const auto B = *rc::gen::inRange<std::int64_t>(1, 4);
  const auto Tq = *rc::gen::inRange<std::int64_t>(0, 7);
  const auto Tk = *rc::gen::inRange<std::int64_t>(0, 7);
  const MultiHeadAttention layer = made(sizes);
  const Tensor x = normal({B, Tq, sizes.d_model}, 1);
  const Tensor context = normal({B, Tk, *sizes.d_context}, 2);
  const AttentionOptions attention = some_attention(sizes.heads, B, Tq, Tk);
  const std::vector<double> packed = layer.forward_cross(x, context, {.attention = attention}).to_vector();
  const std::vector<double> looped =
      layer.forward_cross(x, context, {.attention = attention, .order = HeadOrder::one_by_one}).to_vector();
  RC_ASSERT(packed.size() == looped.size());
  for (std::size_t i = 0; i < packed.size(); ++i) {
    RC_ASSERT(std::fabs(packed[i] - looped[i]) <= kF64Tolerance);
  }
}

TEST(MultiHeadAttention, DropoutDiffersByHeadInBothOrders) {
  const MultiHeadAttention layer = made({.d_model = 4, .heads = 2});
  const AttentionOptions attention{.dropout = Dropout{.p = 0.5, .seed = 3}};
  const Tensor x = normal({6, 4}, 1);
  Taps packed({"*dropped"});
  Taps looped({"*dropped"});
  (void)layer.forward(x, {.attention = attention, .taps = &packed});
  (void)layer.forward(x, {.attention = attention, .order = HeadOrder::one_by_one, .taps = &looped});
  const TensorView all_heads = packed["dropped"].view();
  expect_close(looped["head.0.dropped"], all_heads.slice(1, 0, 1));
  expect_close(looped["head.1.dropped"], all_heads.slice(1, 1, 2));
  const auto zeros = [](const TensorView& head) {
    std::vector<bool> places;
    for (const double weight : head.to_vector()) places.push_back(weight == 0);
    return places;
  };
  EXPECT_NE(zeros(all_heads.select(1, 0)), zeros(all_heads.select(1, 1)));
}

TEST(MultiHeadAttention, IsBlindToOrderWithoutPositions) {
  const MultiHeadAttention layer = made({.d_model = 6, .heads = 3});
  const MultiHeadAttention turning = made({.d_model = 6, .heads = 3, .rotary = RotaryOptions{.dim = 2}});
  const Tensor x = normal({4, 6}, 1);
  const std::vector<std::int64_t> order{2, 0, 3, 1};
  const auto permuted = [&](const Tensor& rows) {
    Tensor result(rows.dtype(), rows.shape());
    std::vector<double> row(6);
    for (std::int64_t t = 0; t < 4; ++t) {
      rows.view().load_row(std::array{order[static_cast<std::size_t>(t)]}, row);
      result.store_row(std::array{t}, row);
    }
    return result;
  };
  expect_close(layer.forward(permuted(x)), permuted(layer.forward(x)));
  EXPECT_GT(std::fabs(turning.forward(permuted(x)).at({0, 0}) - permuted(turning.forward(x)).at({0, 0})), 1e-6);
}

TEST(MultiHeadAttention, RotaryPositionsShiftTogether) {
  const MultiHeadAttention layer = made({.d_model = 8, .heads = 2, .rotary = RotaryOptions{.dim = 4}});
  const Tensor x = normal({2, 3, 8}, 1);
  const Tensor shifted(std::vector<std::int64_t>{100, 101, 102}, {3});
  const Tensor by_batch(std::vector<std::int64_t>{5, 6, 7, -3, -2, -1}, {2, 3});
  const Tensor plain = layer.forward(x);
  expect_close(layer.forward(x, {.positions = shifted}), plain, 1e-11);  // angles of 100 rad: 100 times the rounding
  expect_close(layer.forward(x, {.positions = by_batch}), plain, 1e-11);
  const Tensor apart(std::vector<std::int64_t>{0, 2, 4}, {3});
  EXPECT_GT(std::fabs(layer.forward(x, {.positions = apart}).at({0, 0, 0}) - plain.at({0, 0, 0})), 1e-6);
  expect_close(layer.forward_cross(x, x, {.positions = shifted, .context_positions = shifted}), plain, 1e-11);
}

TEST(MultiHeadAttention, KeepsShapeAndDtype) {
  const MultiHeadAttention layer = made({.d_model = 6, .heads = 2, .kv_heads = 1}, 11, DType::f32);
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    const Tensor x = normal({2, 3, 6}, 1).to(dtype);
    const Tensor out = layer.forward(x);
    EXPECT_EQ(out.dtype(), dtype);
    EXPECT_EQ(out.shape(), x.shape());
    const Tensor first(x.view().select(0, 0));
    EXPECT_EQ(layer.forward(first).to_vector(), Tensor(out.view().select(0, 0)).to_vector());
  }
}

TEST(MultiHeadAttention, NothingHiddenReachesTheOutput) {
  const MultiHeadAttention layer = made({.d_model = 4, .heads = 2});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Tensor x = normal({3, 4}, 1);
  const Tensor before = layer.forward(x, {.attention = {.mask = causal()}});
  for (std::int64_t d = 0; d < 4; ++d) x.set({2, d}, nan);
  for (const auto order : {HeadOrder::packed, HeadOrder::one_by_one}) {
    const Tensor after = layer.forward(x, {.attention = {.mask = causal()}, .order = order});
    expect_close(after.view().slice(0, 0, 2), before.view().slice(0, 0, 2));
    EXPECT_TRUE(std::isnan(after.at({2, 0})));
  }
}

TEST(MultiHeadAttention, TapsEveryIntermediate) {
  const MultiHeadAttention layer =
      made({.d_model = 6, .heads = 2, .kv_heads = 1, .d_k = 4, .d_v = 5, .rotary = RotaryOptions{.dim = 2}});
  Taps taps({"*"});
  const AttentionOptions attention{
      .softcap = 2.0, .bias = alibi(), .mask = causal(), .dropout = Dropout{.p = 0.5, .seed = 1}};
  const Tensor out = layer.forward(normal({3, 6}, 1), {.attention = attention, .taps = &taps});
  EXPECT_THAT(taps.names(), ElementsAre("q", "k", "v", "q_rotated", "k_rotated", "scores", "scaled", "softcapped",
                                        "biased", "masked", "weights", "dropped", "heads", "concat", "out"));
  EXPECT_EQ(taps["q"].shape(), (Shape{1, 2, 3, 4}));
  EXPECT_EQ(taps["v"].shape(), (Shape{1, 1, 3, 5}));
  EXPECT_EQ(taps["scores"].shape(), (Shape{1, 2, 3, 3}));
  EXPECT_EQ(taps["heads"].shape(), (Shape{1, 2, 3, 5}));
  EXPECT_EQ(taps["concat"].shape(), (Shape{1, 3, 10}));
  EXPECT_EQ(taps["out"].to_vector(), out.to_vector());
  EXPECT_EQ(taps["masked"].at({0, 0, 0, 1}), -std::numeric_limits<double>::infinity());
  EXPECT_NEAR(taps["scaled"].at({0, 1, 2, 0}), taps["scores"].at({0, 1, 2, 0}) / 2, kF64Tolerance);
}

TEST(MultiHeadAttention, TapsOfOneHeadAfterAnotherCarryItsNumber) {
  const MultiHeadAttention layer = made({.d_model = 4, .heads = 2});
  Taps packed({"*"});
  Taps looped({"*"});
  const Tensor x = normal({3, 4}, 1);
  (void)layer.forward(x, {.taps = &packed});
  (void)layer.forward(x, {.order = HeadOrder::one_by_one, .taps = &looped});
  EXPECT_THAT(looped.names(), IsSupersetOf({"head.0.q", "head.1.weights", "head.1.out", "heads", "concat", "out"}));
  for (const char* name : {"q", "k", "v", "scores", "weights"}) {
    expect_close(looped["head.1." + std::string(name)], packed[name].view().slice(1, 1, 2));
  }
  expect_close(looped["head.1.out"], packed["heads"].view().slice(1, 1, 2));
}

TEST(MultiHeadAttention, DrawsItsMapsInOrder) {
  Generator a(4);
  Generator b(4);
  const MultiHeadAttention layer({.d_model = 6, .heads = 2, .kv_heads = 1}, a);
  for (const Linear* map : {&layer.weights().q, &layer.weights().k, &layer.weights().v, &layer.weights().out}) {
    EXPECT_EQ(map->weight().to_vector(), Linear({.in = map->in(), .out = map->out()}, b).weight().to_vector());
  }
}

std::string size_message(const MultiHeadOptions& options) {
  return message_of([&] { (void)made(options); });
}

TEST(MultiHeadAttention, NamesSizesThatDoNotFit) {
  EXPECT_EQ(size_message({.d_model = 10, .heads = 3}),
            "MultiHeadAttention: heads: expected a divisor of d_model, 10, where d_k is not given, got 3");
  EXPECT_EQ(size_message({.d_model = 8, .heads = 4, .kv_heads = 3}),
            "MultiHeadAttention: kv_heads: expected a divisor of heads, 4, got 3");
  EXPECT_EQ(size_message({.d_model = 8, .heads = 4, .kv_heads = 0}),
            "MultiHeadAttention: kv_heads: expected a divisor of heads, 4, got 0");
  EXPECT_EQ(size_message({.d_model = 0}), "MultiHeadAttention: d_model: expected 1 or more, got 0");
  EXPECT_EQ(size_message({.d_model = 4, .heads = 0}), "MultiHeadAttention: heads: expected 1 or more, got 0");
  EXPECT_EQ(size_message({.d_model = 4, .d_k = 0}), "MultiHeadAttention: d_k: expected 1 or more, got 0");
  EXPECT_EQ(size_message({.d_model = 4, .d_v = -1}), "MultiHeadAttention: d_v: expected 1 or more, got -1");
  EXPECT_EQ(size_message({.d_model = 4, .d_context = 0}), "MultiHeadAttention: d_context: expected 1 or more, got 0");
  EXPECT_EQ(size_message({.d_model = 8, .heads = 2, .rotary = RotaryOptions{.dim = 6}}),
            "MultiHeadAttention: rotary.dim: expected at most d_k, 4, got 6");
  EXPECT_EQ(size_message({.d_model = 8, .heads = 2, .rotary = RotaryOptions{.dim = 3}}),
            "RotaryOptions: dim: expected an even number, 2 or more, got 3");
}

TEST(MultiHeadAttention, NamesTheWeightThatDoesNotFit) {
  const auto linear = [](std::int64_t out, std::int64_t in) { return Linear(Tensor(DType::f32, {out, in})); };
  const MultiHeadOptions options{.d_model = 4, .heads = 2, .kv_heads = 1, .d_v = 3, .d_context = 5};
  const MultiHeadWeights good{.q = linear(4, 4), .k = linear(2, 5), .v = linear(3, 5), .out = linear(4, 6)};
  const auto message = [&](Linear MultiHeadWeights::* map) {
    MultiHeadWeights bad = good;
    bad.*map = linear(7, 7);
    return message_of([&] { (void)MultiHeadAttention(options, bad); });
  };
  EXPECT_EQ(message(&MultiHeadWeights::q), "MultiHeadAttention: weights.q: expected [4, 4], got [7, 7]");
  EXPECT_EQ(message(&MultiHeadWeights::k), "MultiHeadAttention: weights.k: expected [2, 5], got [7, 7]");
  EXPECT_EQ(message(&MultiHeadWeights::v), "MultiHeadAttention: weights.v: expected [3, 5], got [7, 7]");
  EXPECT_EQ(message(&MultiHeadWeights::out), "MultiHeadAttention: weights.out: expected [4, 6], got [7, 7]");
}

TEST(MultiHeadAttention, NamesInputsThatDoNotFit) {
  const MultiHeadAttention layer = made({.d_model = 4, .heads = 2, .d_context = 6});
  const Tensor x = normal({2, 3, 4}, 1);
  const auto cross = [&](const Tensor& context) { return message_of([&] { (void)layer.forward_cross(x, context); }); };
  EXPECT_EQ(message_of([&] { (void)layer.forward_cross(normal({3, 5}, 1), x); }),
            "MultiHeadAttention: x: expected [T, 4] or [B, T, 4], got [3, 5]");
  EXPECT_EQ(message_of([&] { (void)layer.forward(x); }),
            "MultiHeadAttention: context: expected [T, 6] or [B, T, 6], got [2, 3, 4]");
  EXPECT_EQ(cross(normal({3, 6}, 1)),
            "MultiHeadAttention: context: expected the leading axes of x [2, 3, 4], got [3, 6]");
  EXPECT_EQ(cross(normal({1, 3, 6}, 1)),
            "MultiHeadAttention: context: expected the leading axes of x [2, 3, 4], got [1, 3, 6]");
  EXPECT_EQ(cross(normal({2, 3, 6}, 1, DType::f32)), "MultiHeadAttention: context: expected f64 as x, got f32");
  EXPECT_EQ(message_of([&] { (void)layer.forward_cross(Tensor(DType::i64, {3, 4}), x); }),
            "MultiHeadAttention: x: expected f64, f32, f16 or bf16, got i64");
}

TEST(MultiHeadAttention, NamesPositionsThatDoNotFit) {
  const MultiHeadAttention plain = made({.d_model = 4, .heads = 2});
  const MultiHeadAttention turning = made({.d_model = 4, .heads = 2, .rotary = RotaryOptions{.dim = 2}});
  const Tensor x = normal({2, 3, 4}, 1);
  const Tensor four(DType::i64, {4});
  EXPECT_EQ(message_of([&] { (void)plain.forward(x, {.positions = four}); }),
            "MultiHeadAttention: positions: expected none without rotary, got [4]");
  EXPECT_EQ(message_of([&] { (void)turning.forward(x, {.positions = four}); }),
            "MultiHeadAttention: positions: expected [3] or [2, 3], got [4]");
  EXPECT_EQ(message_of([&] { (void)turning.forward_cross(x, x, {.context_positions = four}); }),
            "MultiHeadAttention: context_positions: expected [3] or [2, 3], got [4]");
  EXPECT_EQ(message_of([&] { (void)turning.forward(x, {.context_positions = four}); }),
            "MultiHeadAttention: context_positions: expected none in self-attention, got [4]");
}

TEST(MultiHeadAttention, BothOrdersRefuseAMaskThatCannotStand) {
  const MultiHeadAttention layer = made({.d_model = 4, .heads = 2});
  const Tensor x = normal({2, 3, 4}, 1);
  for (const auto order : {HeadOrder::packed, HeadOrder::one_by_one}) {
    EXPECT_THROW((void)layer.forward(x, {.attention = {.mask = key_lengths({1, 2, 3})}, .order = order}),
                 InvalidArgument);
    EXPECT_THROW((void)layer.forward(x, {.attention = {.dropout = Dropout{.p = 1.5}}, .order = order}),
                 InvalidArgument);
  }
}

}  // namespace
}  // namespace qkv::nn
