// What holds for the gradients of every call.
#include "qkv/backward.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "attention/fused_call.h"
#include "attention/random_backward.h"
#include "attention/random_call.h"
#include "core/error_message.h"

namespace qkv::testing_attention::backward_test {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::IsNan;
using testing::Not;
using testing::SizeIs;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The type of the numbers, and what runs on them.
struct Where {
  DType dtype = DType::f64;
  std::string target = "reference";
};

Tensor filled(const Shape& shape, double value) {
  Tensor tensor(DType::f64, shape);
  for (double& element : tensor.values<double>()) element = value;
  return tensor;
}

Tensor counted(const Shape& shape) {
  Tensor tensor(DType::f64, shape);
  double next = 0;
  for (double& element : tensor.values<double>()) element = std::sin(next += 1);
  return tensor;
}

// Two heads, four queries, five keys.
struct Sample {
  Tensor q = counted({1, 2, 4, 3});
  Tensor k = counted({1, 1, 5, 3});
  Tensor v = counted({1, 1, 5, 2});
  Tensor d_out = counted({1, 2, 4, 2});
  Tensor d_lse = counted({1, 2, 4});

  [[nodiscard]] AttentionGradients run(const AttentionOptions& options, const Where& where = {},
                                       const GradientWants& wants = {}) const {
    AttentionOptions there = options;
    there.target = where.target;
    const auto narrow = [&](const Tensor& x) { return x.to(where.dtype); };
    const AttentionResult result = attention(narrow(q), narrow(k), narrow(v), there);
    const Tensor d_lse_there = d_lse.to(result.lse.dtype());
    return attention_backward(narrow(d_out), narrow(q), narrow(k), narrow(v), result.out, result.lse, there,
                              {.d_lse = d_lse_there, .wants = wants});
  }
};

std::vector<Where> everywhere() {
  std::vector<Where> all = {{}};
  for (const std::string& target : fused_targets()) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) all.push_back({.dtype = dtype, .target = target});
  }
  return all;
}

class BackwardOn : public testing::TestWithParam<Where> {};

INSTANTIATE_TEST_SUITE_P(Targets, BackwardOn, testing::ValuesIn(everywhere()), [](const auto& where) {
  return where.param.target + "_" + std::string(name_of(where.param.dtype));
});

TEST_P(BackwardOn, GivesZerosToRowsThatSeeNothing) {
  Sample sample;
  for (std::int64_t d = 0; d < 2; ++d) sample.d_out.set({0, 1, 2, d}, kNan);
  for (std::int64_t d = 0; d < 3; ++d) sample.q.set({0, 0, 2, d}, kNan);
  Tensor visible = filled({4, 5}, 1).to(DType::b8);
  for (std::int64_t j = 0; j < 5; ++j) visible.set({2, j}, 0);
  const Bias bias = alibi({0.5, 0.25}) + dense_bias(counted({4, 5}));
  const AttentionGradients gradients = sample.run({.bias = bias, .mask = dense(visible), .sinks = {1, 2}}, GetParam());
  for (std::int64_t h = 0; h < 2; ++h) {
    EXPECT_THAT(gradients.d_q.view().select(1, h).select(1, 2).to_vector(), Each(0.0));
  }
  EXPECT_THAT(gradients.d_k.to_vector(), Each(Not(IsNan())));
  EXPECT_THAT(gradients.d_v.to_vector(), Each(Not(IsNan())));
  EXPECT_THAT(gradients.d_bias[0].to_vector(), Each(Not(IsNan())));
  EXPECT_THAT(gradients.d_bias[1].view().select(0, 2).to_vector(), Each(0.0));
  EXPECT_THAT(gradients.d_sinks.to_vector(), Each(Not(IsNan())));
}

// With a sink alone all of the weight is the sink's, whatever the query holds and lse is rounded to.
TEST_P(BackwardOn, GivesDLseToTheSinkOfARowThatSeesNothing) {
  Sample sample;
  for (std::int64_t h = 0; h < 2; ++h) {
    for (std::int64_t d = 0; d < 3; ++d) sample.q.set({0, h, 2, d}, d == 1 ? kNan : 1);
  }
  Tensor visible = filled({4, 5}, 1).to(DType::b8);
  for (std::int64_t j = 0; j < 5; ++j) visible.set({2, j}, 0);
  const AttentionGradients gradients = sample.run({.mask = dense(visible), .sinks = {-1e30, -1000000.3}}, GetParam());
  for (std::int64_t h = 0; h < 2; ++h) {
    EXPECT_NEAR(gradients.d_sinks.at({h}), sample.d_lse.at({0, h, 2}), 0x1p-23) << h;
  }
}

// Places that lie otherwise than tensors do, full of NaN, and a query and a key that see nothing.
TEST_P(BackwardOn, WritesIntoPlacesWhatItWouldReturn) {
  const DType dtype = GetParam().dtype;
  const Sample sample;
  AttentionOptions options = {.mask = causal(Align::top_left), .target = GetParam().target};
  const Tensor q = sample.q.to(dtype);
  const Tensor k = sample.k.to(dtype);
  const Tensor v = sample.v.to(dtype);
  const Tensor d_out = sample.d_out.to(dtype);
  const AttentionResult result = attention(q, k, v, options);
  const AttentionGradients expected = attention_backward(d_out, q, k, v, result.out, result.lse, options);
  Tensor d_q = filled({1, 4, 2, 3}, kNan).to(dtype);
  Tensor d_k = filled({1, 5, 1, 3}, kNan).to(dtype);
  Tensor d_v = filled({1, 5, 1, 2}, kNan).to(dtype);
  const auto place = [](Tensor& tensor) { return MutableTensorView(tensor).transpose(1, 2); };
  const AttentionGradients got =
      attention_backward(d_out, q, k, v, result.out, result.lse, options,
                         {.into = {.d_q = place(d_q), .d_k = place(d_k), .d_v = place(d_v)}});
  EXPECT_TRUE(got.d_q.empty() && got.d_k.empty() && got.d_v.empty());
  EXPECT_EQ(d_q.view().transpose(1, 2).to_vector(), expected.d_q.to_vector());
  EXPECT_EQ(d_k.view().transpose(1, 2).to_vector(), expected.d_k.to_vector());
  EXPECT_EQ(d_v.view().transpose(1, 2).to_vector(), expected.d_v.to_vector());
}

// Also where inputs are copied into scratch, since their last stride is not 1.
TEST_P(BackwardOn, GivesTheSameBitsInTheCallersScratch) {
  const DType dtype = GetParam().dtype;
  const Sample sample;
  const auto turned = [&](const Tensor& x) {
    Tensor copy = Tensor(x.view().transpose(2, 3)).to(dtype);
    return copy.transpose(2, 3);
  };
  const Tensor q = turned(sample.q);
  const Tensor k = turned(sample.k);
  const Tensor v = turned(sample.v);
  const Tensor d_out = turned(sample.d_out);
  const AttentionOptions options = {.mask = causal(), .target = GetParam().target};
  const AttentionResult result = attention(q, k, v, options);
  const AttentionGradients expected = attention_backward(d_out, q, k, v, result.out, result.lse, options);
  const std::size_t bytes = attention_backward_scratch_bytes(d_out, q, k, v, result.out, result.lse, options);
  EXPECT_EQ(bytes == 0, GetParam().target == "reference");
  std::vector<std::byte> scratch(bytes + 1, std::byte{0xFF});
  const auto run = [&](std::span<std::byte> room) {
    return attention_backward(d_out, q, k, v, result.out, result.lse, options, {.scratch = room});
  };
  const AttentionGradients got = run(std::span(scratch).subspan(1));
  EXPECT_EQ(got.d_q.to_vector(), expected.d_q.to_vector());
  EXPECT_EQ(got.d_k.to_vector(), expected.d_k.to_vector());
  EXPECT_EQ(got.d_v.to_vector(), expected.d_v.to_vector());
  if (bytes == 0) return;
  const std::string wanted = "attention_backward: scratch: expected " + std::to_string(bytes) + " bytes or more, got ";
  EXPECT_EQ(error_message([&] { (void)run(std::span(scratch).first(bytes - 1)); }), wanted + std::to_string(bytes - 1));
  EXPECT_EQ(error_message([&] { (void)run(std::span(scratch).first(8)); }), wanted + "8");
}

TEST_P(BackwardOn, GivesZerosToKeysThatNobodySees) {
  Sample sample;
  for (std::int64_t d = 0; d < 3; ++d) sample.k.set({0, 0, 4, d}, kNan);
  for (std::int64_t d = 0; d < 2; ++d) sample.v.set({0, 0, 4, d}, kNan);
  Tensor bias = counted({5});
  bias.set({4}, -std::numeric_limits<double>::infinity());
  const std::vector<AttentionOptions> calls = {{.mask = key_lengths({4})}, {.bias = dense_bias(bias)}};
  for (const AttentionOptions& options : calls) {
    const AttentionGradients gradients = sample.run(options, GetParam());
    EXPECT_THAT(gradients.d_q.to_vector(), Each(Not(IsNan())));
    EXPECT_THAT(gradients.d_k.view().slice(2, 4, 5).to_vector(), Each(0.0));
    EXPECT_THAT(gradients.d_v.view().slice(2, 4, 5).to_vector(), Each(0.0));
    EXPECT_THAT(gradients.d_k.to_vector(), Each(Not(IsNan())));
    EXPECT_THAT(gradients.d_v.to_vector(), Each(Not(IsNan())));
    for (const Tensor& d_bias : gradients.d_bias) {
      EXPECT_THAT(d_bias.to_vector(), Each(Not(IsNan())));
      EXPECT_EQ(d_bias.at({4}), 0);
    }
  }
}

// Key 4 holds NaN, and query 3 alone sees it.
TEST_P(BackwardOn, KeepsNanToWhatUsesIt) {
  Sample sample;
  sample.v.set({0, 0, 4, 0}, kNan);
  const AttentionGradients gradients = sample.run({.mask = causal()}, GetParam());
  for (std::int64_t h = 0; h < 2; ++h) {
    EXPECT_THAT(gradients.d_q.view().select(1, h).slice(1, 0, 3).to_vector(), Each(Not(IsNan())));
    EXPECT_THAT(gradients.d_q.view().select(1, h).select(1, 3).to_vector(), Each(IsNan()));
  }
  EXPECT_THAT(gradients.d_v.to_vector(), Each(Not(IsNan())));  // which v does not enter
  EXPECT_THAT(gradients.d_k.view().select(2, 4).to_vector(), Each(IsNan()));
}

TEST_P(BackwardOn, MakesNanOfARowWithANanScore) {
  Sample sample;
  sample.k.set({0, 0, 4, 0}, kNan);
  const AttentionGradients gradients = sample.run({.mask = causal()}, GetParam());
  for (std::int64_t h = 0; h < 2; ++h) {
    EXPECT_THAT(gradients.d_q.view().select(1, h).slice(1, 0, 3).to_vector(), Each(Not(IsNan())));
    EXPECT_THAT(gradients.d_q.view().select(1, h).select(1, 3).to_vector(), Each(IsNan()));
  }
  EXPECT_THAT(gradients.d_v.to_vector(), Each(IsNan()));  // query 3 sees every key
}

TEST_P(BackwardOn, OfNothingIsZero) {
  const AttentionOptions options = {.bias = alibi({0.5, 0.25}), .sinks = {0.25, 0.5}};
  Sample no_keys;
  no_keys.k = Tensor(DType::f64, {1, 1, 0, 3});
  no_keys.v = Tensor(DType::f64, {1, 1, 0, 2});
  no_keys.d_lse = filled({1, 2, 4}, 2);
  const AttentionGradients without_keys = no_keys.run(options, GetParam());
  EXPECT_THAT(without_keys.d_q.to_vector(), Each(0.0));
  EXPECT_EQ(without_keys.d_k.shape(), (Shape{1, 1, 0, 3}));
  EXPECT_THAT(without_keys.d_bias[0].to_vector(), Each(0.0));
  EXPECT_THAT(without_keys.d_sinks.to_vector(), Each(8.0));  // lse is the sink, four times
  Sample no_queries;
  no_queries.q = Tensor(DType::f64, {1, 2, 0, 3});
  no_queries.d_out = Tensor(DType::f64, {1, 2, 0, 2});
  no_queries.d_lse = Tensor(DType::f64, {1, 2, 0});
  const AttentionGradients without_queries = no_queries.run(options, GetParam());
  EXPECT_THAT(without_queries.d_k.to_vector(), Each(0.0));
  EXPECT_THAT(without_queries.d_v.to_vector(), Each(0.0));
  EXPECT_THAT(without_queries.d_bias[0].to_vector(), Each(0.0));
  EXPECT_THAT(without_queries.d_sinks.to_vector(), Each(0.0));
}

TEST_P(BackwardOn, ComputesWhatIsWanted) {
  const Sample sample;
  const AttentionOptions options = {.bias = alibi({0.5, 0.25}), .sinks = {1, 2}};
  const AttentionGradients all = sample.run(options, GetParam());
  const AttentionGradients some = sample.run(options, GetParam(), {.k = false, .bias = false});
  EXPECT_EQ(some.d_q.to_vector(), all.d_q.to_vector());
  EXPECT_TRUE(some.d_k.empty());
  EXPECT_EQ(some.d_v.to_vector(), all.d_v.to_vector());
  EXPECT_THAT(some.d_bias, IsEmpty());
  EXPECT_EQ(some.d_sinks.to_vector(), all.d_sinks.to_vector());
  const AttentionGradients others = sample.run(options, GetParam(), {.q = false, .v = false, .sinks = false});
  EXPECT_TRUE(others.d_q.empty());
  EXPECT_EQ(others.d_k.to_vector(), all.d_k.to_vector());
  EXPECT_TRUE(others.d_v.empty());
  EXPECT_EQ(others.d_bias[0].to_vector(), all.d_bias[0].to_vector());
  EXPECT_TRUE(others.d_sinks.empty());
}

TEST_P(BackwardOn, NamesTheTermsOfABias) {
  const Tensor table(DType::f32, {32, 2});
  const Bias bias = (alibi({0.5, 0.25}) + Bias()) + (t5_bias(table) + dense_bias(Tensor(DType::f32, {4, 1})));
  EXPECT_THAT(bias.terms(), SizeIs(3));
  EXPECT_THAT(Bias().terms(), IsEmpty());
  EXPECT_THAT(alibi().terms(), SizeIs(1));
  const AttentionGradients gradients = Sample().run({.bias = bias}, GetParam());
  ASSERT_THAT(gradients.d_bias, SizeIs(3));
  EXPECT_EQ(gradients.d_bias[0].shape(), (Shape{2}));
  EXPECT_EQ(gradients.d_bias[1].shape(), (Shape{32, 2}));
  EXPECT_EQ(gradients.d_bias[2].shape(), (Shape{4, 1}));
}

// A mask is asked about each pair once a walk.
TEST_P(BackwardOn, WalksOnceForAllTermsOfABias) {
  const auto asked = [](const Bias& bias) {
    std::atomic<int> count = 0;
    const Mask mask = predicate("counted", [&count](const Place&, const MaskShape&) { return ++count > 0; });
    const GradientWants wants = {.q = false, .k = false, .v = false};
    static_cast<void>(Sample().run({.bias = bias, .mask = mask}, GetParam(), wants));
    return count.load();
  };
  const Bias few = alibi({0.5, 0.25}) + t5_bias(Tensor(DType::f32, {32, 2}));
  const int once = asked(alibi({0.5, 0.25}));
  EXPECT_EQ(asked(few), once);
  EXPECT_EQ(asked(few + dense_bias(Tensor(DType::f32, {1, 2, 4, 5}))), once);
  EXPECT_EQ(asked(few + dense_bias(Tensor(DType::f32, {4, 5})) + dense_bias(Tensor(DType::f32, {4, 5}))), once);
}

TEST(Backward, HasTheTypesOfWhatItIsBy) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const DType wide = dtype == DType::f64 ? DType::f64 : DType::f32;
    const Sample sample;
    const Tensor q = sample.q.to(dtype);
    const Tensor k = sample.k.to(dtype);
    const Tensor v = sample.v.to(dtype);
    const AttentionOptions options = {.bias = dense_bias(Tensor(DType::bf16, {4, 5})), .sinks = {0, 1}};
    const AttentionResult result = attention(q, k, v, options);
    const AttentionGradients gradients =
        attention_backward(sample.d_out.to(dtype), q, k, v, result.out, result.lse, options);
    EXPECT_EQ(gradients.d_q.dtype(), dtype);
    EXPECT_EQ(gradients.d_k.dtype(), dtype);
    EXPECT_EQ(gradients.d_v.dtype(), dtype);
    EXPECT_EQ(gradients.d_bias[0].dtype(), wide);
    EXPECT_EQ(gradients.d_sinks.dtype(), wide);
  }
}

// With the lse of more keys than it is given, a call's gradients are its keys' share of the whole's.
TEST(Backward, TakesTheLseOfAnotherCall) {
  const Sample sample;
  const AttentionResult whole = attention(sample.q, sample.k, sample.v);
  const AttentionGradients all = attention_backward(sample.d_out, sample.q, sample.k, sample.v, whole.out, whole.lse);
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    return attention_backward(sample.d_out, sample.q, sample.k.view().slice(2, begin, end),
                              sample.v.view().slice(2, begin, end), whole.out, whole.lse);
  };
  EXPECT_EQ(part(0, 2).d_v.to_vector(), Tensor(all.d_v.view().slice(2, 0, 2)).to_vector());
  EXPECT_EQ(part(2, 5).d_k.to_vector(), Tensor(all.d_k.view().slice(2, 2, 5)).to_vector());
}

// Documents of several tiles, of one, without queries and without keys.
class RaggedBackwardOn : public testing::TestWithParam<Where> {
 protected:
  static constexpr std::int64_t kTq = 205;
  static constexpr std::int64_t kTk = 150;

  static AttentionGradients run(const Sample& sample, AttentionOptions options, int threads) {
    options.ragged = {.q_offsets = {0, 5, 5, 140, 140, kTq}, .k_offsets = {0, 9, 12, 82, 82, kTk}};
    options.threads = threads;
    return sample.run(options, GetParam());
  }

  // Document n, of itself.
  static Sample document(const Sample& whole, std::size_t n) {
    constexpr std::array<std::int64_t, 6> kQueries = {0, 5, 5, 140, 140, kTq};
    constexpr std::array<std::int64_t, 6> kKeys = {0, 9, 12, 82, 82, kTk};
    const auto queries = [&](const Tensor& x) { return Tensor(x.view().slice(2, kQueries[n], kQueries[n + 1])); };
    const auto keys = [&](const Tensor& x) { return Tensor(x.view().slice(2, kKeys[n], kKeys[n + 1])); };
    return {.q = queries(whole.q),
            .k = keys(whole.k),
            .v = keys(whole.v),
            .d_out = queries(whole.d_out),
            .d_lse = queries(whole.d_lse)};
  }
};

INSTANTIATE_TEST_SUITE_P(Targets, RaggedBackwardOn, testing::ValuesIn(everywhere()), [](const auto& where) {
  return where.param.target + "_" + std::string(name_of(where.param.dtype));
});

TEST_P(RaggedBackwardOn, IsALoopOverItsDocuments) {
  const Sample sample = {.q = counted({1, 2, kTq, 3}),
                         .k = counted({1, 1, kTk, 3}),
                         .v = counted({1, 1, kTk, 2}),
                         .d_out = counted({1, 2, kTq, 2}),
                         .d_lse = counted({1, 2, kTq})};
  const AttentionOptions options = {
      .bias = alibi({0.5, 0.25}) + dense_bias(counted({2, 1, 1})), .mask = causal(), .sinks = {0.5, -1}};
  const AttentionGradients whole = run(sample, options, 1);
  AttentionGradients sums;
  sums.d_bias = {Tensor(DType::f64, {2}), Tensor(DType::f64, {2, 1, 1})};
  sums.d_sinks = Tensor(DType::f64, {2});
  std::vector<double> d_q;
  std::vector<double> d_k;
  const auto add = [](Tensor& sum, const Tensor& part) {
    const std::vector<double> values = part.to_vector();
    std::ranges::transform(values, sum.values<double>(), sum.values<double>().begin(), std::plus());
  };
  for (std::size_t n = 0; n < 5; ++n) {
    const Sample own = document(sample, n);
    const AttentionGradients part = own.run(options, GetParam());
    const auto append = [](std::vector<double>& rows, const Tensor& x) {
      const std::vector<double> head = x.view().select(0, 0).select(0, 0).to_vector();
      rows.insert(rows.end(), head.begin(), head.end());
    };
    append(d_q, part.d_q);
    append(d_k, part.d_k);
    add(sums.d_bias[0], part.d_bias[0]);
    add(sums.d_bias[1], part.d_bias[1]);
    add(sums.d_sinks, part.d_sinks);
  }
  EXPECT_EQ(whole.d_q.view().select(0, 0).select(0, 0).to_vector(), d_q);
  EXPECT_EQ(whole.d_k.view().select(0, 0).select(0, 0).to_vector(), d_k);
  // Each document's is rounded once more; a slope's terms are distances below 205 times d_scores below 1.
  const double unit = GetParam().dtype == DType::f64 ? 0x1p-50 : 0x1p-22;
  EXPECT_LE(largest_difference(sums.d_bias[0], whole.d_bias[0]), unit * kTq * kTq);
  EXPECT_LE(largest_difference(sums.d_bias[1], whole.d_bias[1]), unit * kTq);
  EXPECT_LE(largest_difference(sums.d_sinks, whole.d_sinks), unit * kTq);
  for (const int threads : {2, 3}) {
    const AttentionGradients other = run(sample, options, threads);
    EXPECT_EQ(other.d_q.to_vector(), whole.d_q.to_vector());
    EXPECT_EQ(other.d_k.to_vector(), whole.d_k.to_vector());
    EXPECT_EQ(other.d_v.to_vector(), whole.d_v.to_vector());
    EXPECT_EQ(other.d_bias[0].to_vector(), whole.d_bias[0].to_vector());
    EXPECT_EQ(other.d_bias[1].to_vector(), whole.d_bias[1].to_vector());
    EXPECT_EQ(other.d_sinks.to_vector(), whole.d_sinks.to_vector());
  }
}

// Documents are calls of their own; what they share is their sum.
RC_GTEST_PROP(BackwardProperty, OfARaggedBatchIsALoopOverItsDocuments, ()) {
  RandomLoss loss = any_ragged_loss();
  loss.terms = {
      {.numbers = any_normal({loss.q.dim(1)}), .make = [](const Tensor& slopes) { return alibi(slopes.to_vector()); }}};
  loss.rest.dropout = std::nullopt;
  const Ragged ragged = *loss.rest.ragged;
  const AttentionGradients whole = loss.backward(loss.forward());
  Tensor slopes(DType::f64, {loss.q.dim(1)});
  for (std::size_t n = 0; n + 1 < ragged.q_offsets.size(); ++n) {
    const auto queries = [&](const Tensor& x) {
      return Tensor(x.view().slice(2, ragged.q_offsets[n], ragged.q_offsets[n + 1]));
    };
    const auto keys = [&](const Tensor& x) {
      return Tensor(x.view().slice(2, ragged.k_offsets[n], ragged.k_offsets[n + 1]));
    };
    RandomLoss own = loss;
    own.rest.ragged = std::nullopt;
    own.q = queries(loss.q);
    own.k = keys(loss.k);
    own.v = keys(loss.v);
    own.d_out = queries(loss.d_out);
    own.d_lse = queries(loss.d_lse);
    const AttentionGradients gradients = own.backward(own.forward());
    RC_ASSERT(largest_difference(gradients.d_q, queries(whole.d_q)) == 0.0);
    RC_ASSERT(largest_difference(gradients.d_k, keys(whole.d_k)) == 0.0);
    RC_ASSERT(largest_difference(gradients.d_v, keys(whole.d_v)) == 0.0);
    for (std::int64_t h = 0; h < slopes.dim(0); ++h) {
      slopes.set({h}, slopes.at({h}) + gradients.d_bias[0].at({h}));
    }
  }
  // The same terms in another order: at most 4 documents of 30 pairs, each d_score below the loss's size.
  RC_ASSERT(largest_difference(slopes, whole.d_bias[0]) <= 120 * 0x1p-53 * loss.size());
}

}  // namespace
}  // namespace qkv::testing_attention::backward_test
