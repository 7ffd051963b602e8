#include "qkv/nn/experts.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "autograd/gradient_check.h"
#include "nn/fixture.h"
#include "nn/tracing.h"
#include "oracle/of_layers.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/reduce.h"
#include "qkv/nn/trace.h"

namespace qkv::nn::experts_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct Case {
  const char* name;
  ExpertOptions experts;
  FeedForwardKind kind = FeedForwardKind::gated;
  bool bias = false;
  Activation activation = Activation::silu;
};

FeedForwardOptions layer_of(const Case& test, DType dtype = DType::f64) {
  return {.d_model = 6,
          .d_ff = 10,
          .activation = test.activation,
          .kind = test.kind,
          .limit = 0.4,
          .bias = test.bias,
          .dtype = dtype};
}

Experts made(const Case& test, DType dtype = DType::f64) {
  Generator generator(1);
  return {test.experts, layer_of(test, dtype), generator};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"of_chosen", {.count = 5, .per_token = 2}},
      {"of_all", {.count = 5, .per_token = 3, .shares = ExpertShares::of_all}},
      {"in_turn", {.count = 5, .per_token = 2, .shares = ExpertShares::in_turn, .router_jitter = 0.3}},
      {"three_in_turn", {.count = 6, .per_token = 3, .shares = ExpertShares::in_turn, .router_jitter = 2}},
      {"one", {.count = 4, .per_token = 1, .d_ff = 7, .shares = ExpertShares::of_all}},
      {"every", {.count = 3, .per_token = 3, .router_bias = true}, FeedForwardKind::plain, true, Activation::gelu},
      {"limited",
       {.count = 5, .per_token = 2, .router_bias = true},
       FeedForwardKind::limited,
       true,
       Activation::quick_gelu},
      {"shared", {.count = 5, .per_token = 2, .shared_d_ff = 9}},
      {"sigmoid", {.count = 5, .per_token = 2, .shares = ExpertShares::sigmoid}},
      {"corrected",
       {.count = 6,
        .per_token = 3,
        .shares = ExpertShares::sigmoid_of_chosen,
        .groups = 3,
        .groups_per_token = 2,
        .correction = true,
        .factor = 2.5}},
      {"groups",
       {.count = 6, .per_token = 2, .shares = ExpertShares::of_all, .groups = 2, .groups_per_token = 1, .factor = 0.5}},
      {"gated", {.count = 5, .per_token = 2, .d_ff = 7, .shared_d_ff = 9, .shared_gate = true}},
  };
  return kCases;
}

using Numbers = std::vector<double>;

Numbers through(const Parameters& parameters, const std::string& name, const Numbers& x) {
  return oracle::linear_of(parameters, name + ".").forward(Tensor(x, {std::ssize(x)})).to_vector();
}

// What an expert gives for one token, number by number.
Numbers expert(const Case& test, const Parameters& parameters, const std::string& name, const Numbers& x) {
  if (test.kind != FeedForwardKind::limited) {
    const oracle::FeedForward layer = oracle::feed_forward_of(test.activation, parameters, name + ".");
    return layer.forward(Tensor(x, {std::ssize(x)})).to_vector();
  }
  const Numbers gate = through(parameters, name + ".gate", x);
  Numbers up = through(parameters, name + ".up", x);
  for (std::size_t i = 0; i < up.size(); ++i) {
    const double opened = std::min(gate[i], 0.4);
    up[i] = opened / (1 + std::exp(-1.702 * opened)) * (1 + std::clamp(up[i], -0.4, 0.4));
  }
  return through(parameters, name + ".down", up);
}

void add(Numbers& to, double factor, const Numbers& more) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * more[i];
}

// SparseMixer's two choices as its paper has them, of any number.
Numbers shares_in_turn(const ExpertOptions& experts, Numbers scores) {
  constexpr double kTaken = -std::numeric_limits<double>::infinity();
  Numbers shares(scores.size());
  for (std::int64_t n = 0; n < experts.per_token; ++n) {
    const auto best = std::ranges::max_element(scores);
    double sum = 0;
    for (const double score : scores) {
      if (score == kTaken) continue;
      const double size = std::max(std::fabs(score), *best);
      if (*best - score <= 2 * experts.router_jitter * size) sum += std::exp(score - *best);
    }
    shares[static_cast<std::size_t>(best - scores.begin())] = 1 / sum;
    *best = kTaken;
  }
  return shares;
}

bool is_sigmoid(const ExpertOptions& experts) {
  return experts.shares == ExpertShares::sigmoid || experts.shares == ExpertShares::sigmoid_of_chosen;
}

// Whether expert e counts: its group is among the best.
bool is_heard(const ExpertOptions& experts, const Numbers& values, std::size_t e) {
  const std::size_t each = values.size() / static_cast<std::size_t>(experts.groups);
  const auto value_of_group = [&](std::size_t group) {
    Numbers own(values.begin() + static_cast<std::ptrdiff_t>(group * each),
                values.begin() + static_cast<std::ptrdiff_t>((group + 1) * each));
    std::ranges::sort(own, std::greater());
    return is_sigmoid(experts) && experts.groups > 1 ? own[0] + own[1] : own[0];
  };
  std::int64_t better = 0;
  for (std::size_t group = 0; group * each < values.size(); ++group) {
    if (value_of_group(group) > value_of_group(e / each)) ++better;
  }
  return better < experts.groups_per_token;
}

// The scores by which experts are chosen, and of which they have their shares.
Numbers shares_of(const ExpertOptions& experts, const Parameters& parameters, const Numbers& scores) {
  if (experts.shares == ExpertShares::in_turn) return shares_in_turn(experts, scores);
  Numbers all(scores.size());
  for (std::size_t e = 0; e < all.size(); ++e) {
    all[e] = is_sigmoid(experts) ? 1 / (1 + std::exp(-scores[e])) : std::exp(scores[e]);
  }
  Numbers values = all;
  if (experts.correction) {
    for (std::size_t e = 0; e < all.size(); ++e) {
      values[e] += value_of(parameters, "correction").at({static_cast<std::int64_t>(e)});
    }
  }
  std::vector<std::size_t> order;
  for (std::size_t e = 0; e < all.size(); ++e) {
    if (is_heard(experts, values, e)) order.push_back(e);
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  order.resize(static_cast<std::size_t>(experts.per_token));
  double sum = 0;
  if (experts.shares == ExpertShares::sigmoid) sum = 1;
  if (experts.shares == ExpertShares::of_all) sum = std::accumulate(all.begin(), all.end(), 0.0);
  if (sum == 0) {
    for (const std::size_t e : order) sum += all[e];
  }
  Numbers shares(scores.size());
  for (const std::size_t e : order) shares[e] = experts.factor * all[e] / sum;
  return shares;
}

// One token after the other, all experts of each.
Numbers expected(const Case& test, const Parameters& parameters, const Numbers& x) {
  const Numbers shares = shares_of(test.experts, parameters, through(parameters, "router", x));
  Numbers out(x.size());
  for (std::size_t e = 0; e < shares.size(); ++e) {
    add(out, shares[e], expert(test, parameters, "experts." + std::to_string(e), x));
  }
  if (!test.experts.shared_d_ff) return out;
  double factor = 1;
  if (test.experts.shared_gate) factor = 1 / (1 + std::exp(-through(parameters, "shared_gate", x).front()));
  add(out, factor, expert(test, parameters, "shared", x));
  return out;
}

class AllExperts : public testing::TestWithParam<Case> {};

TEST_P(AllExperts, AreThoseOfAPlainLoop) {
  const Experts layer = made(GetParam());
  shake(layer.parameters());
  const Tensor x = normal({2, 5, 6}, 1);
  const Tensor out(layer.forward(Variable(x)).value());
  ASSERT_EQ(out.shape(), x.shape());
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t t = 0; t < 5; ++t) {
      const Numbers want = expected(GetParam(), layer.parameters(), x.view().select(0, b).select(0, t).to_vector());
      expect_close(out.view().select(0, b).select(0, t), Tensor(want, {6}));
    }
  }
}

TEST_P(AllExperts, HaveTheGradientOfCentralDifferences) {
  const Experts layer = made(GetParam());
  const Operation operation = [&](const std::vector<Variable>& x) { return layer.forward(x[0]); };
  EXPECT_THAT(gradient_fault(operation, {normal_numbers(1, {2, 3, 6})}), IsEmpty());
}

// Of every number of every parameter.
TEST_P(AllExperts, HaveTheGradientsOfTheirParameters) {
  const Experts layer = made(GetParam());
  const Variable x(normal_numbers(1, {2, 9, 6}));
  const Variable weights(normal_numbers(2, {2, 9, 6}));
  const auto loss = [&] { return sum(layer.forward(x) * weights); };
  backward(loss());
  constexpr double kStep = 1e-5;
  for (const Parameter& parameter : layer.parameters()) {
    const Tensor before(parameter.value.value());
    if (parameter.name == "correction") {
      EXPECT_FALSE(parameter.value.has_gradient()) << "it chooses alone";
      continue;
    }
    ASSERT_TRUE(parameter.value.has_gradient()) << parameter.name << ": no token chose it";
    const Numbers gradient = parameter.value.gradient().to_vector();
    Tensor moved = before;
    for (std::int64_t n = 0; n < before.size(); ++n) {
      const auto at = static_cast<std::size_t>(n);
      Numbers values = before.to_vector();
      const double middle = values[at];
      const auto loss_at = [&](double value) {
        values[at] = value;
        assign(layer.parameters(), parameter.name, Tensor(values, before.shape()));
        return loss().item();
      };
      const double difference = (loss_at(middle + kStep) - loss_at(middle - kStep)) / (2 * kStep);
      // Truncation, kStep^2 times a third derivative of some tens, and rounding, 1e-15 / kStep.
      ASSERT_NEAR(gradient[at], difference, 1e-8 * std::max(10.0, std::fabs(difference))) << parameter.name << " " << n;
    }
    assign(layer.parameters(), parameter.name, before);
  }
}

TEST_P(AllExperts, RoundLittle) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    const Experts layer = made(GetParam(), dtype);
    const Experts exact = made(GetParam());
    for (const Parameter& parameter : layer.parameters()) {
      assign(exact.parameters(), parameter.name, parameter.value.value());
    }
    const Tensor x = normal({3, 7, 6}, 4, dtype);
    Trace trace({"shares"});
    Trace exact_trace({"shares"});
    const auto run = [](const Experts& of, const Tensor& input, const Trace& kept) {
      const Tracing tracing(&kept);
      return of.forward(Variable(input)).value().to_vector();
    };
    const Numbers got = run(layer, x, trace);
    const Numbers want = run(exact, x.to(DType::f64), exact_trace);
    const Numbers shares = trace["shares"].to_vector();
    const Numbers exact_shares = exact_trace["shares"].to_vector();
    double largest = 0;
    for (const double value : want) largest = std::max(largest, std::fabs(value));
    // Eight steps are rounded to the dtype one after the other; products add up to 10 numbers in f32.
    const double step = dtype == DType::f32 ? 0x1p-23 : dtype == DType::f16 ? 0x1p-11 : 0x1p-8;
    for (std::size_t n = 0; n < shares.size(); ++n) {
      ASSERT_EQ(shares[n] == 0, exact_shares[n] == 0) << "another choice, of which rounding says nothing";
    }
    for (std::size_t n = 0; n < got.size(); ++n) EXPECT_NEAR(got[n], want[n], 8 * step * largest) << name_of(dtype);
  }
}

TEST_P(AllExperts, AreTheSameOnAnyNumberOfThreads) {
  const Experts layer = made(GetParam(), DType::f32);
  const Operation operation = [&](const std::vector<Variable>& x) { return layer.forward(x[0]); };
  EXPECT_THAT(threads_fault(operation, {normal_numbers(1, {300, 6})}, DType::f32), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, AllExperts, testing::ValuesIn(cases()),
                         [](const auto& test) { return std::string(test.param.name); });

// A router whose scores are the token itself.
Experts choosing_by_token(std::int64_t per_token) {
  Experts layer = made({"", {.count = 6, .per_token = per_token}});
  Numbers identity(36);
  for (std::size_t n = 0; n < 6; ++n) identity[7 * n] = 1;
  assign(layer.parameters(), "router.weight", Tensor(identity, {6, 6}));
  return layer;
}

Tensor token(const Numbers& numbers) { return {numbers, {1, std::ssize(numbers)}}; }

TEST(Experts, ComputeTheChosenAlone) {
  const Experts layer = choosing_by_token(2);
  const Tensor none(Numbers(60, NAN), {10, 6});
  for (const char* name : {"experts.0.up.weight", "experts.2.up.weight", "experts.3.up.weight"}) {
    assign(layer.parameters(), name, none);
  }
  const Variable x = Variable::parameter(token({0, 2, -1, 1, 3, 0}));
  Trace trace;
  const Tracing tracing(&trace);
  const Variable out = layer.forward(x);
  for (const double value : out.value().to_vector()) EXPECT_TRUE(std::isfinite(value));
  EXPECT_THAT(trace.names(), Contains("experts.1"));
  EXPECT_THAT(trace.names(), Contains("experts.4.activated"));
  for (const char* other : {"experts.0", "experts.2", "experts.3", "experts.5"}) {
    EXPECT_THAT(trace.names(), Not(Contains(StartsWith(other))));
  }
  EXPECT_EQ(trace["experts.4.up"].shape(), (Shape{1, 10}));
  const double first = 1 / (1 + std::exp(-1.0));
  EXPECT_THAT(trace["shares"].to_vector(),
              ElementsAre(0, testing::DoubleEq(1 - first), 0, 0, testing::DoubleEq(first), 0));
  backward(sum(out));
  for (const Parameter& parameter : layer.parameters()) {
    const bool is_chosen = parameter.name.starts_with("experts.1") || parameter.name.starts_with("experts.4") ||
                           parameter.name.starts_with("router");
    EXPECT_EQ(parameter.value.has_gradient(), is_chosen) << parameter.name;
  }
}

TEST(Experts, TakeTheFirstOfEqualScoresAndWhatIsNoNumberFirst) {
  const Experts layer = choosing_by_token(2);
  const auto shares_of = [&](const Numbers& x) {
    Trace trace({"shares"});
    const Tracing tracing(&trace);
    (void)layer.forward(Variable(token(x)));
    return trace["shares"].to_vector();
  };
  EXPECT_THAT(shares_of({1, 1, 1, 1, 1, 1}), ElementsAre(0.5, 0.5, 0, 0, 0, 0));
  EXPECT_THAT(shares_of({0, 2, 0, 2, 0, 2}), ElementsAre(0, 0.5, 0, 0.5, 0, 0));
  for (const double value : layer.forward(Variable(token({0, 0, 0, NAN, 0, 0}))).value().to_vector()) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(Experts, FollowSharesThatATraceEdits) {
  const Experts layer = choosing_by_token(2);
  const Tensor x = token({0, 2, -1, 1, 3, 0});
  const auto with_shares = [&](const Numbers& shares) {
    Trace trace(std::vector<std::string>{});
    trace.edit("shares", [&](const Variable&) { return Variable(token(shares)); });
    const Tracing tracing(&trace);
    return layer.forward(Variable(x)).value().to_vector();
  };
  const Numbers of_five =
      oracle::feed_forward_of(Activation::silu, layer.parameters(), "experts.5.").forward(x).to_vector();
  const Numbers got = with_shares({0, 0, 0, 0, 0, 2});
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], 2 * of_five[i], kF64Tolerance);
  EXPECT_THAT(with_shares({0, 0, 0, 0, 0, 0}), testing::Each(0));
}

TEST(Experts, NameTheirParametersInTheOrderOfTheDraws) {
  std::vector<std::string> names;
  const Case test{"", {.count = 2, .per_token = 1, .shared_d_ff = 3, .shared_gate = true}};
  for (const Parameter& parameter : made(test).parameters()) names.push_back(parameter.name);
  EXPECT_THAT(names,
              ElementsAre("router.weight", "experts.0.gate.weight", "experts.0.up.weight", "experts.0.down.weight",
                          "experts.1.gate.weight", "experts.1.up.weight", "experts.1.down.weight", "shared.gate.weight",
                          "shared.up.weight", "shared.down.weight", "shared_gate.weight"));
}

TEST(Experts, NameWhatDoesNotFit) {
  const auto message = [](const ExpertOptions& options) { return message_of([&] { (void)made({"", options}); }); };
  EXPECT_EQ(message({.count = 0, .per_token = 1}), "Experts: count: expected 1 or more, got 0");
  EXPECT_EQ(message({.count = 4, .per_token = 5}), "Experts: per_token: expected 1 to count, 4, got 5");
  EXPECT_EQ(message({.count = 4, .per_token = 0}), "Experts: per_token: expected 1 to count, 4, got 0");
  EXPECT_EQ(message({.count = 4, .per_token = 1, .router_jitter = -0.5}),
            "Experts: router_jitter: expected 0 or more, got -0.500000");
  EXPECT_EQ(message({.count = 4, .per_token = 1, .groups = 3}),
            "Experts: groups: expected a divisor of count, 4, got 3");
  EXPECT_EQ(message({.count = 4, .per_token = 1, .shares = ExpertShares::sigmoid, .groups = 4}),
            "Experts: groups: expected a divisor of count, 4, that leaves two in each, got 4");
  EXPECT_EQ(message({.count = 4, .per_token = 1, .shares = ExpertShares::in_turn, .groups = 2}),
            "Experts: groups: expected 1 with shares in_turn, got 2");
  EXPECT_EQ(message({.count = 4, .per_token = 1, .groups = 2, .groups_per_token = 3}),
            "Experts: groups_per_token: expected 1 to groups, 2, got 3");
  EXPECT_EQ(message({.count = 4, .per_token = 3, .groups = 2, .groups_per_token = 1}),
            "Experts: groups_per_token: expected groups that have per_token experts, 3, got 1 of 2");
  EXPECT_EQ(message({.count = 4, .per_token = 1, .correction = true}),
            "Experts: correction: expected none where shares are no sigmoids, got one");
  EXPECT_EQ(message({.count = 4, .per_token = 1, .d_ff = 0}), "FeedForward: d_ff: expected 1 or more, got 0");
  const Experts layer = made({"", {.count = 4, .per_token = 1}});
  EXPECT_EQ(message_of([&] { (void)layer.forward(Variable(normal({2, 5}, 1))); }),
            "Experts: x: expected a last axis of 6, got [2, 5]");
  Generator generator(1);
  EXPECT_EQ(message_of([&] {
              const FeedForwardOptions none{.d_model = 6, .kind = FeedForwardKind::limited, .limit = 0};
              (void)FeedForward(none, generator);
            }),
            "FeedForward: limit: expected a positive number, got 0");
}

}  // namespace
}  // namespace qkv::nn::experts_test
