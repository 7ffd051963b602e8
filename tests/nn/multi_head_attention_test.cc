#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "autograd/gradient_check.h"
#include "nn/fixture.h"
#include "oracle/of_layers.h"
#include "qkv/nn/attention.h"

namespace qkv::nn::multi_head_attention_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

MultiHeadAttention made(const MultiHeadOptions& options, std::uint64_t seed = 11, DType dtype = DType::f64) {
  Generator generator(seed);
  return {options, generator, dtype};
}

// in_proj holds q, k and v one above the other.
MultiHeadAttention from_pytorch(const Json& fixture) {
  MultiHeadAttention layer({.d_model = 8, .heads = 2}, Init::undrawn(), DType::f64);
  const Tensor weight = tensor_of(fixture.at("in_proj_weight"));
  const Tensor bias = tensor_of(fixture.at("in_proj_bias"));
  std::int64_t first = 0;
  for (const std::string name : {"q", "k", "v"}) {
    assign(layer.parameters(), name + ".weight", weight.view().slice(0, first, first + 8));
    assign(layer.parameters(), name + ".bias", bias.view().slice(0, first, first + 8));
    first += 8;
  }
  assign(layer.parameters(), "out.weight", tensor_of(fixture.at("out_proj.weight")));
  assign(layer.parameters(), "out.bias", tensor_of(fixture.at("out_proj.bias")));
  return layer;
}

TEST(MultiHeadAttention, AgreesWithPyTorch) {
  const Json fixture = read_fixture("torch_layers.json").at("attention");
  const MultiHeadAttention layer = from_pytorch(fixture);
  const Variable x(tensor_of(fixture.at("x")));
  const Variable context(tensor_of(fixture.at("context")));
  expect_close(layer.forward(x), tensor_of(fixture.at("self_out")));
  expect_close(layer.forward(x, {.attention = {.mask = causal()}}), tensor_of(fixture.at("causal_out")));
  expect_close(layer.forward(x, {.attention = {.mask = key_lengths({3, 2})}}), tensor_of(fixture.at("padded_out")));
  expect_close(layer.forward_cross(x, context), tensor_of(fixture.at("cross_out")));
}

TEST(MultiHeadAttention, ItsWeightsAgreeWithPyTorch) {
  const Json fixture = read_fixture("torch_layers.json").at("attention");
  const MultiHeadAttention layer = from_pytorch(fixture);
  const Variable x(tensor_of(fixture.at("x")));
  const Trace trace({"weights"});
  (void)layer.forward(x, {.trace = &trace});
  expect_close(trace["weights"], tensor_of(fixture.at("self_weights")));
  (void)layer.forward(x, {.attention = {.mask = causal()}, .trace = &trace});
  expect_close(trace["weights"], tensor_of(fixture.at("causal_weights")));
  (void)layer.forward_cross(x, Variable(tensor_of(fixture.at("context"))), {.trace = &trace});
  expect_close(trace["weights"], tensor_of(fixture.at("cross_weights")));
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
  if (*rc::gen::arbitrary<bool>()) options.out_bias = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) options.qk_norm = 1e-4;
  options.qk_norm_kind = *rc::gen::element(NormKind::rms, NormKind::rms_plus_one);
  if (*rc::gen::arbitrary<bool>()) options.scale = 0.4;
  if (*rc::gen::arbitrary<bool>()) options.softcap = 2.5;
  if (*rc::gen::arbitrary<bool>()) options.window = 3;
  return options;
}

// All heads in one product against one head after another.
RC_GTEST_PROP(MultiHeadAttention, IsThatOfTheOracle, ()) {
  const MultiHeadOptions sizes = some_sizes();
  const auto B = *rc::gen::inRange<std::int64_t>(1, 4);
  const auto Tq = *rc::gen::inRange<std::int64_t>(0, 7);
  const auto Tk = *rc::gen::inRange<std::int64_t>(0, 7);
  const MultiHeadAttention layer = made(sizes);
  shake(layer.parameters());
  const Tensor x = normal({B, Tq, sizes.d_model}, 1);
  const Tensor context = normal({B, Tk, *sizes.d_context}, 2);
  const AttentionOptions attention = some_attention(sizes.heads, B, Tq, Tk);
  const std::vector<double> got =
      layer.forward_cross(Variable(x), Variable(context), {.attention = attention}).value().to_vector();
  const std::vector<double> want =
      oracle::attention_of(sizes, layer.parameters()).forward_cross(x, context, attention).to_vector();
  RC_ASSERT(got.size() == want.size());
  // Sums of up to 72 products of normal numbers of the order of 10, each of which may be 10 times as large after the
  // last map: 512 roundings of numbers of the order of 100.
  for (std::size_t i = 0; i < got.size(); ++i) RC_ASSERT(std::fabs(got[i] - want[i]) <= 512 * 0x1p-53 * 100);
}

TEST(MultiHeadAttention, TurnsAsTheOracleDoes) {
  const MultiHeadOptions options{
      .d_model = 8, .heads = 4, .kv_heads = 2, .rotary = RotaryOptions{.dim = 2}, .qk_norm = 1e-6};
  const MultiHeadAttention layer = made(options);
  const oracle::MultiHeadAttention loops = oracle::attention_of(options, layer.parameters());
  const Tensor x = normal({2, 5, 8}, 1);
  const AttentionOptions attention{.bias = alibi(), .mask = causal()};
  expect_close(layer.forward(Variable(x), {.attention = attention}), loops.forward(x, attention), 1e-12);
  const Tensor positions(std::vector<std::int64_t>{3, 1, 4, 1, 5}, {5});
  expect_close(layer.forward(Variable(x), {.positions = positions.view()}), loops.forward(x, {}, positions), 1e-12);
}

TEST(MultiHeadAttention, OptionsOfACallReplaceThoseOfTheLayer) {
  const MultiHeadOptions options{.d_model = 8, .heads = 2, .scale = 0.3, .softcap = 1.5, .window = 2};
  const MultiHeadAttention layer = made(options);
  MultiHeadOptions others = options;
  others.scale = 1;
  others.softcap = 4;
  const Variable x(normal({1, 6, 8}, 1));
  const Trace trace({"weights"});
  const Variable got = layer.forward(x, {.attention = {.scale = 1, .softcap = 4, .mask = causal()}, .trace = &trace});
  const Tensor want = oracle::attention_of(others, layer.parameters()).forward(Tensor(x.value()), {.mask = causal()});
  expect_close(got, want, 1e-12);
  const Tensor weights = trace["weights"];
  EXPECT_EQ(weights.at({0, 0, 4, 2}), 0);  // outside of the layer's window
  EXPECT_GT(weights.at({0, 0, 4, 3}), 0);
  EXPECT_EQ(weights.at({0, 0, 3, 4}), 0);  // outside of the call's mask
}

TEST(MultiHeadAttention, NormsEachHeadsQueriesAndKeys) {
  const MultiHeadAttention layer = made({.d_model = 8, .heads = 2, .kv_heads = 1, .qk_norm = 0.0});
  const Trace trace({"q", "k"});
  (void)layer.forward(Variable(normal({1, 3, 8}, 1)), {.trace = &trace});
  for (const std::string name : {"q", "k"}) {
    const Tensor rows = trace[name];
    double sum = 0;
    for (std::int64_t d = 0; d < 4; ++d) sum += rows.at({0, 0, 2, d}) * rows.at({0, 0, 2, d});
    EXPECT_NEAR(sum / 4, 1, 1e-14) << name;
  }
  std::vector<std::string> names;
  for (const Parameter& parameter : layer.parameters()) names.push_back(parameter.name);
  EXPECT_THAT(names, ElementsAre("q.weight", "q.bias", "k.weight", "k.bias", "v.weight", "v.bias", "q_norm.weight",
                                 "k_norm.weight", "out.weight", "out.bias"));
}

TEST(MultiHeadAttention, HasTheGradientOfCentralDifferences) {
  const MultiHeadAttention layer = made({.d_model = 4,
                                         .heads = 2,
                                         .kv_heads = 1,
                                         .d_context = 3,
                                         .qk_norm = 1e-3,
                                         .scale = 0.6,
                                         .softcap = 2.0,
                                         .window = 3});
  const Operation operation = [&](const std::vector<Variable>& x) { return layer.forward_cross(x[0], x[1]); };
  EXPECT_THAT(gradient_fault(operation, {normal_numbers(1, {2, 3, 4}), normal_numbers(2, {2, 4, 3})}), IsEmpty());
}

TEST(MultiHeadAttention, DropoutDiffersByHead) {
  const MultiHeadAttention layer = made({.d_model = 4, .heads = 2});
  const Trace trace({"dropped"});
  (void)layer.forward(Variable(normal({1, 6, 4}, 1)),
                      {.attention = {.dropout = Dropout{.p = 0.5, .seed = 3}}, .trace = &trace});
  const Tensor dropped = trace["dropped"];
  const auto zeros = [&](std::int64_t h) {
    std::vector<bool> places;
    for (const double weight : dropped.view().select(1, h).to_vector()) places.push_back(weight == 0);
    return places;
  };
  EXPECT_NE(zeros(0), zeros(1));
}

TEST(MultiHeadAttention, IsBlindToOrderWithoutPositions) {
  const MultiHeadAttention layer = made({.d_model = 6, .heads = 3});
  const MultiHeadAttention turning = made({.d_model = 6, .heads = 3, .rotary = RotaryOptions{.dim = 2}});
  const Tensor x = normal({1, 4, 6}, 1);
  const std::vector<std::int64_t> order{2, 0, 3, 1};
  const auto permuted = [&](const TensorView& rows) {
    Tensor result(rows.dtype(), rows.shape());
    std::vector<double> row(6);
    for (std::int64_t t = 0; t < 4; ++t) {
      rows.load_row(std::array{std::int64_t{0}, order[static_cast<std::size_t>(t)]}, row);
      result.store_row(std::array{std::int64_t{0}, t}, row);
    }
    return result;
  };
  const auto after = [&](const MultiHeadAttention& one) { return permuted(one.forward(Variable(x)).value()); };
  const auto before = [&](const MultiHeadAttention& one) { return one.forward(Variable(permuted(x))); };
  expect_close(before(layer), after(layer));
  EXPECT_GT(std::fabs(before(turning).value().at({0, 0, 0}) - after(turning).at({0, 0, 0})), 1e-6);
}

TEST(MultiHeadAttention, RotaryPositionsShiftTogether) {
  const MultiHeadAttention layer = made({.d_model = 8, .heads = 2, .rotary = RotaryOptions{.dim = 4}});
  const Variable x(normal({2, 3, 8}, 1));
  const Tensor shifted(std::vector<std::int64_t>{100, 101, 102}, {3});
  const Tensor by_batch(std::vector<std::int64_t>{5, 6, 7, -3, -2, -1}, {2, 3});
  const Variable plain = layer.forward(x);
  // Angles of 100 rad: 100 times the rounding.
  expect_close(layer.forward(x, {.positions = shifted.view()}), plain.value(), 1e-11);
  expect_close(layer.forward(x, {.positions = by_batch.view()}), plain.value(), 1e-11);
  const Tensor apart(std::vector<std::int64_t>{0, 2, 4}, {3});
  const Variable other = layer.forward(x, {.positions = apart.view()});
  EXPECT_GT(std::fabs(other.value().at({0, 0, 0}) - plain.value().at({0, 0, 0})), 1e-6);
}

TEST(MultiHeadAttention, KeepsShapeAndDtype) {
  const MultiHeadOptions options{.d_model = 6, .heads = 2, .kv_heads = 1};
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    const MultiHeadAttention layer = made(options, 11, dtype == DType::f64 ? DType::f64 : DType::f32);
    const Tensor x = normal({2, 3, 6}, 1).to(dtype);
    const Variable out = layer.forward(Variable(x));
    EXPECT_EQ(out.dtype(), dtype);
    EXPECT_EQ(out.shape(), x.shape());
  }
}

TEST(MultiHeadAttention, NothingHiddenReachesTheOutput) {
  const MultiHeadAttention layer = made({.d_model = 4, .heads = 2});
  Tensor x = normal({1, 3, 4}, 1);
  const auto forward = [&] { return Tensor(layer.forward(Variable(x), {.attention = {.mask = causal()}}).value()); };
  const Tensor before = forward();
  Tensor bad(x.view());
  for (std::int64_t d = 0; d < 4; ++d) bad.set({0, 2, d}, std::numeric_limits<double>::quiet_NaN());
  x = bad;
  const Tensor after = forward();
  expect_close(after.view().slice(1, 0, 2), before.view().slice(1, 0, 2));
  EXPECT_TRUE(std::isnan(after.at({0, 2, 0})));
}

TEST(MultiHeadAttention, DrawsItsMapsInOrder) {
  Generator a(4);
  Generator b(4);
  const MultiHeadAttention layer({.d_model = 6, .heads = 2, .kv_heads = 1}, a);
  for (const std::string name : {"q", "k", "v", "out"}) {
    const Tensor weight = value_of(layer.parameters(), name + ".weight");
    const Linear drawn({.in = weight.dim(1), .out = weight.dim(0)}, b);
    EXPECT_EQ(weight.to_vector(), drawn.weight().value().to_vector());
    EXPECT_EQ(value_of(layer.parameters(), name + ".bias").to_vector(), drawn.bias().value().to_vector());
  }
}

TEST(MultiHeadAttention, SeveralHeadsHaveAsManyParametersAsOne) {
  const auto count = [](std::int64_t heads) {
    return parameter_count(MultiHeadAttention({.d_model = 12, .heads = heads}, Init::undrawn()).parameters());
  };
  EXPECT_EQ(count(1), 4 * (12 * 12 + 12));
  EXPECT_EQ(count(4), count(1));
}

TEST(MultiHeadAttention, MayHaveABiasOfTheLastMapAlone) {
  const MultiHeadAttention layer = made({.d_model = 4, .bias = false, .out_bias = true});
  std::vector<std::string> names;
  for (const Parameter& parameter : layer.parameters()) names.push_back(parameter.name);
  EXPECT_THAT(names, ElementsAre("q.weight", "k.weight", "v.weight", "out.weight", "out.bias"));
}

std::string size_message(const MultiHeadOptions& options) {
  return message_of([&] { (void)made(options); });
}

TEST(MultiHeadAttention, NamesSizesThatDoNotFit) {
  EXPECT_EQ(size_message({.d_model = 10, .heads = 3}),
            "MultiHeadAttention: heads: expected a divisor of `d_model`, 10, where `d_k` is not given, got 3");
  EXPECT_EQ(size_message({.d_model = 8, .heads = 4, .kv_heads = 3}),
            "MultiHeadAttention: kv_heads: expected a divisor of `heads`, 4, got 3");
  EXPECT_EQ(size_message({.d_model = 8, .heads = 4, .kv_heads = 0}),
            "MultiHeadAttention: kv_heads: expected a divisor of `heads`, 4, got 0");
  EXPECT_EQ(size_message({.d_model = 0}), "MultiHeadAttention: d_model: expected 1 or more, got 0");
  EXPECT_EQ(size_message({.d_model = 4, .heads = 0}), "MultiHeadAttention: heads: expected 1 or more, got 0");
  EXPECT_EQ(size_message({.d_model = 4, .d_k = 0}), "MultiHeadAttention: d_k: expected 1 or more, got 0");
  EXPECT_EQ(size_message({.d_model = 4, .d_v = -1}), "MultiHeadAttention: d_v: expected 1 or more, got -1");
  EXPECT_EQ(size_message({.d_model = 4, .d_context = 0}), "MultiHeadAttention: d_context: expected 1 or more, got 0");
  EXPECT_EQ(size_message({.d_model = 4, .window = 0}), "MultiHeadAttention: window: expected 1 or more, got 0");
  EXPECT_EQ(size_message({.d_model = 4, .qk_norm = -1.0}), "Norm: epsilon: expected 0 or more, got -1");
  EXPECT_EQ(size_message({.d_model = 4, .qk_norm_kind = NormKind::layer}),
            "MultiHeadAttention: qk_norm_kind: expected rms or rms_plus_one, got layer");
  EXPECT_EQ(size_message({.d_model = 8, .heads = 2, .rotary = RotaryOptions{.dim = 6}}),
            "MultiHeadAttention: rotary.dim: expected at most `d_k`, 4, got 6");
  EXPECT_EQ(size_message({.d_model = 8, .heads = 2, .rotary = RotaryOptions{.dim = 3}}),
            "RotaryOptions: dim: expected an even number, 2 or more, got 3");
}

TEST(MultiHeadAttention, NamesInputsThatDoNotFit) {
  const MultiHeadAttention layer = made({.d_model = 4, .heads = 2, .d_context = 6});
  const Variable x(normal({2, 3, 4}, 1));
  const auto cross = [&](const Tensor& context) { (void)layer.forward_cross(x, Variable(context)); };
  EXPECT_EQ(message_of([&] { (void)layer.forward_cross(Variable(normal({3, 5}, 1)), x); }),
            "MultiHeadAttention: x: expected [B, T, 4], got [3, 5]");
  EXPECT_EQ(message_of([&] { (void)layer.forward_cross({}, x); }),
            "MultiHeadAttention: x: expected [B, T, 4], got an empty variable");
  EXPECT_EQ(message_of([&] { (void)layer.forward(x); }),
            "linear: x: expected [..., 6] for weight [4, 6], got [2, 3, 4]");
  EXPECT_EQ(message_of([&] { cross(normal({3, 6}, 1)); }),
            "MultiHeadAttention: context: expected [B, T, 6], got [3, 6]");
  EXPECT_THROW(cross(normal({1, 3, 6}, 1)), InvalidArgument);
  EXPECT_THROW(cross(normal({2, 3, 6}, 1, DType::f32)), InvalidArgument);
}

TEST(MultiHeadAttention, NamesPositionsThatDoNotFit) {
  const MultiHeadAttention plain = made({.d_model = 4, .heads = 2});
  const MultiHeadAttention turning = made({.d_model = 4, .heads = 2, .rotary = RotaryOptions{.dim = 2}});
  const Variable x(normal({2, 3, 4}, 1));
  const Tensor four(DType::i64, {4});
  EXPECT_EQ(message_of([&] { (void)plain.forward(x, {.positions = four.view()}); }),
            "MultiHeadAttention: positions: expected none without rotary, got [4]");
  EXPECT_EQ(message_of([&] { (void)turning.forward(x, {.positions = four.view()}); }),
            "MultiHeadAttention: positions: expected [3] or [2, 3], got [4]");
}

TEST(MultiHeadAttention, RefusesAMaskThatCannotStand) {
  const MultiHeadAttention layer = made({.d_model = 4, .heads = 2});
  const Variable x(normal({2, 3, 4}, 1));
  EXPECT_THROW((void)layer.forward(x, {.attention = {.mask = key_lengths({1, 2, 3})}}), InvalidArgument);
  EXPECT_THROW((void)layer.forward(x, {.attention = {.dropout = Dropout{.p = 1.5}}}), InvalidArgument);
}

TEST(MultiHeadAttention, HasSinksOfItsOwnWhereACallHasNone) {
  MultiHeadOptions options{.d_model = 8, .heads = 2};
  Generator first(1);
  Generator second(1);
  const MultiHeadAttention plain(options, first, DType::f64);
  options.sinks = true;
  const MultiHeadAttention layer(options, second, DType::f64);
  const Variable sinks(Tensor(std::vector<double>{0.5, -1}, {2}));
  const Variable others(Tensor(std::vector<double>{2, 1}, {2}));
  assign(layer.parameters(), "sinks", sinks.value());
  const Variable x(normal({2, 5, 8}, 1));
  const auto with = [&](const Variable& terms) { return plain.forward(x, {.learned = {.sinks = terms}}); };
  expect_close(layer.forward(x), with(sinks).value(), 0);
  expect_close(layer.forward(x, {.learned = {.sinks = others}}), with(others).value(), 0);
  expect_close(layer.forward(x, {.attention = {.sinks = {2, 1}}}), with(others).value(), 0);
  EXPECT_NE(layer.forward(x).value().to_vector(), plain.forward(x).value().to_vector());
  EXPECT_EQ(layer.parameters().back().name, "sinks");
}

}  // namespace
}  // namespace qkv::nn::multi_head_attention_test
