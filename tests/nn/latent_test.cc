#include "qkv/nn/latent.h"

#include <gmock/gmock.h>

#include <cmath>

#include "autograd/gradient_check.h"
#include "nn/fixture.h"
#include "qkv/attention.h"
#include "qkv/nn/attention.h"

namespace qkv::nn::latent_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kWidth = 9;
constexpr std::int64_t kHeads = 3;
constexpr std::int64_t kStill = 4;
constexpr std::int64_t kTurned = 2;
constexpr std::int64_t kValues = 5;
constexpr std::int64_t kRank = 7;

MultiHeadOptions options_of(std::optional<std::int64_t> q_rank) {
  return {.d_model = kWidth,
          .heads = kHeads,
          .d_k = kStill + kTurned,
          .d_v = kValues,
          .bias = q_rank.has_value(),
          .rotary = RotaryOptions{.dim = kTurned, .base = 10},
          .latent = {.kv_rank = kRank, .q_rank = q_rank, .epsilon = 0.3}};
}

MultiHeadAttention made(std::optional<std::int64_t> q_rank) {
  Generator generator(3);
  MultiHeadAttention layer(options_of(q_rank), generator, DType::f64);
  shake(layer.parameters());
  return layer;
}

using Numbers = std::vector<double>;

// The numbers of x [n] by the map of this name, with its bias if it has one.
Numbers through(const Parameters& parameters, const std::string& name, const Numbers& x) {
  const Tensor weight = value_of(parameters, name + ".weight");
  Numbers out(static_cast<std::size_t>(weight.shape()[0]));
  for (std::size_t row = 0; row < out.size(); ++row) {
    for (std::size_t n = 0; n < x.size(); ++n) {
      out[row] += x[n] * weight.at({static_cast<std::int64_t>(row), static_cast<std::int64_t>(n)});
    }
  }
  for (const Parameter& parameter : parameters) {
    if (parameter.name != name + ".bias") continue;
    for (std::size_t row = 0; row < out.size(); ++row) out[row] += parameter.value.value().to_vector()[row];
  }
  return out;
}

Numbers normed(const Parameters& parameters, const std::string& name, Numbers x) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const Tensor gain = value_of(parameters, name + ".weight");
  for (std::size_t n = 0; n < x.size(); ++n) {
    x[n] *= gain.at({static_cast<std::int64_t>(n)}) / std::sqrt(squares / static_cast<double>(x.size()) + 0.3);
  }
  return x;
}

// The pair at the end of a head, turned by one radian a place.
void turn(Numbers& head, std::int64_t place) {
  double& a = head[head.size() - 2];
  double& b = head.back();
  const double cosine = std::cos(static_cast<double>(place));
  const double sine = std::sin(static_cast<double>(place));
  const double first = a * cosine - b * sine;
  b = b * cosine + a * sine;
  a = first;
}

Numbers part(const Numbers& from, std::int64_t begin, std::int64_t count) {
  return {from.begin() + begin, from.begin() + begin + count};
}

void put(Tensor& to, std::int64_t b, std::int64_t h, std::int64_t t, const Numbers& values) {
  for (std::size_t n = 0; n < values.size(); ++n) to.set({b, h, t, static_cast<std::int64_t>(n)}, values[n]);
}

class Latent : public testing::TestWithParam<std::optional<std::int64_t>> {};

TEST_P(Latent, KeysAndValuesComeFromOneVectorOfEachToken) {
  const MultiHeadAttention layer = made(GetParam());
  const Parameters all = layer.parameters();
  const Tensor x = normal({2, 4, kWidth}, 1);
  Tensor q(DType::f64, {2, kHeads, 4, kStill + kTurned});
  Tensor k(DType::f64, q.shape());
  Tensor v(DType::f64, {2, kHeads, 4, kValues});
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t t = 0; t < 4; ++t) {
      const Numbers token = x.view().select(0, b).select(0, t).to_vector();
      const Numbers both = through(all, "latent", token);
      const Numbers kv = through(all, "kv", normed(all, "latent_norm", part(both, 0, kRank)));
      const Numbers read = GetParam() ? normed(all, "q_latent_norm", through(all, "q_latent", token)) : token;
      const Numbers queries = through(all, "q", read);
      for (std::int64_t h = 0; h < kHeads; ++h) {
        Numbers key = part(kv, h * (kStill + kValues), kStill);
        for (const double value : part(both, kRank, kTurned)) key.push_back(value);
        Numbers query = part(queries, h * (kStill + kTurned), kStill + kTurned);
        turn(key, t);
        turn(query, t);
        put(k, b, h, t, key);
        put(q, b, h, t, query);
        put(v, b, h, t, part(kv, h * (kStill + kValues) + kStill, kValues));
      }
    }
  }
  Trace trace({"*"});
  const Variable out = layer.forward(Variable(x), {.attention = {.mask = causal()}, .trace = &trace});
  expect_close(trace["q_rotated"], q, 1e-12);
  expect_close(trace["k_rotated"], k, 1e-12);
  expect_close(trace["v"], v, 1e-12);
  EXPECT_EQ(trace["latent_norm"].shape(), (Shape{2, 4, kRank}));
  const Tensor heads = attention(q, k, v, {.mask = causal()}).out;
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t t = 0; t < 4; ++t) {
      Numbers joined;
      for (std::int64_t h = 0; h < kHeads; ++h) {
        for (std::int64_t n = 0; n < kValues; ++n) joined.push_back(heads.at({b, h, t, n}));
      }
      const Numbers want = through(all, "out", joined);
      expect_close(out.value().select(0, b).select(0, t), Tensor(want, {kWidth}), 1e-11);
    }
  }
}

TEST_P(Latent, HaveTheGradientOfCentralDifferences) {
  const MultiHeadAttention layer = made(GetParam());
  const Operation operation = [&](const std::vector<Variable>& inputs) { return layer.forward(inputs[0]); };
  EXPECT_THAT(gradient_fault(operation, {normal_numbers(1, {2, 4, kWidth})}), IsEmpty());
}

TEST_P(Latent, GiveTheSameOverACache) {
  const MultiHeadAttention layer = made(GetParam());
  const NoGradient constant;
  const Variable x(normal({2, 5, kWidth}, 1));
  const Variable whole = layer.forward(x, {.attention = {.mask = causal()}});
  KvCache cache({.format = layer.cache_format(DType::f64), .B = 2, .capacity = 5});
  for (std::int64_t t = 0; t < 5; ++t) {
    const Variable step(Tensor(x.value().slice(1, t, t + 1)));
    expect_close(layer.forward(step, {.cache = &cache}), whole.value().slice(1, t, t + 1), 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Latent, testing::Values(std::nullopt, 6),
                         [](const auto& test) { return test.param ? "of_queries_too" : "of_keys"; });

TEST(LatentKeys, NameTheirParametersInTheOrderOfTheDraws) {
  std::vector<std::string> names;
  for (const Parameter& parameter : made(6).parameters()) names.push_back(parameter.name);
  EXPECT_THAT(names,
              ElementsAre("q_latent.weight", "q_latent.bias", "q_latent_norm.weight", "q.weight", "latent.weight",
                          "latent.bias", "latent_norm.weight", "kv.weight", "out.weight", "out.bias"));
}

TEST(LatentKeys, NameWhatDoesNotFit) {
  const auto message = [](const auto& change) {
    MultiHeadOptions options = options_of(6);
    change(options);
    Generator generator(1);
    return message_of([&] { (void)MultiHeadAttention(options, generator); });
  };
  const std::string kind =
      "MultiHeadAttention: latent: expected self-attention with rotary, as many key heads as heads, "
      "no qk_norm and no relative, got another";
  EXPECT_EQ(message([](auto& o) { o.rotary.reset(); }), kind);
  EXPECT_EQ(message([](auto& o) { o.kv_heads = 1; }), kind);
  EXPECT_EQ(message([](auto& o) { o.qk_norm = 1e-6; }), kind);
  EXPECT_EQ(message([](auto& o) { o.d_context = 4; }), kind);
  EXPECT_EQ(message([](auto& o) { o.rotary->dim = kStill + kTurned; }),
            "MultiHeadAttention: rotary.dim: expected from 1 to `d_k` - 1, 5, beside latent keys, got 6");
  EXPECT_EQ(message([](auto& o) { o.latent.kv_rank = 0; }),
            "MultiHeadAttention: latent.kv_rank: expected 1 or more, got 0");
  EXPECT_EQ(message([](auto& o) { o.latent.q_rank = 0; }),
            "MultiHeadAttention: latent.q_rank: expected 1 or more, got 0");
}

}  // namespace
}  // namespace qkv::nn::latent_test
