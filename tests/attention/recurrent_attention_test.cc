#include <gmock/gmock.h>

#include <cmath>

#include "attention/linear_reference.h"
#include "core/error_message.h"
#include "qkv/linear_attention.h"
#include "qkv/random.h"

namespace qkv::recurrent_attention_test {
namespace {

using testing_linear::Extents;
using testing_linear::largest_difference;
using testing_linear::Rows;
using testing_linear::rows_of;
using testing_linear::tolerance;

constexpr UpdateRule kRules[] = {UpdateRule::linear, UpdateRule::gated, UpdateRule::delta, UpdateRule::gated_delta};

struct RecurrentCall {
  Tensor q, k, v, decay, beta, past;

  [[nodiscard]] RecurrentAttentionOptions options(UpdateRule rule) const {
    RecurrentAttentionOptions options = {.rule = rule};
    if (rule == UpdateRule::gated || rule == UpdateRule::gated_delta) options.decay = decay.view();
    if (rule == UpdateRule::delta || rule == UpdateRule::gated_delta) options.beta = beta.view();
    options.past_state = past.view();
    return options;
  }
  [[nodiscard]] RecurrentAttentionResult run(const RecurrentAttentionOptions& options) const {
    return recurrent_attention(q, k, v, options);
  }
};

Tensor mapped(const Tensor& x, double (*f)(double)) {
  std::vector<double> values = x.to_vector();
  for (double& value : values) value = f(value);
  return Tensor(values, x.shape()).to(x.dtype());
}

// Keys of length about 1, decays below 0 and rates in (0, 1), as the rules want them to stay bounded.
RecurrentCall inputs_of(const Extents& e, DType dtype = DType::f32) {
  Generator random(7);
  const auto unit = [](double x) { return x / 4; };
  const auto decay = [](double x) { return -std::fabs(x) / 4; };
  const auto rate = [](double x) { return 1 / (1 + std::exp(-x)); };
  return {.q = random.randn({e.B, e.Hq, e.Tq, e.D}).to(dtype),
          .k = mapped(random.randn({e.B, e.Hk, e.Tq, e.D}), unit).to(dtype),
          .v = random.randn({e.B, e.Hk, e.Tq, e.Dv}).to(dtype),
          .decay = mapped(random.randn({e.B, e.Hk, e.Tq, e.D}), decay).to(dtype),
          .beta = mapped(random.randn({e.B, e.Hk, e.Tq}), rate).to(dtype),
          .past = random.randn({e.B, e.Hk, e.D, e.Dv}).to(dtype)};
}

// One head by the rule's own formula, token by token; appends its rows of out.
template <class T>
void recur_reference(const RecurrentCall& x, const RecurrentAttentionOptions& options, std::int64_t b, std::int64_t h,
                     std::vector<T>& out) {
  const std::int64_t head = h / (x.q.dim(1) / x.k.dim(1));
  const Rows<T> q = rows_of<T>(x.q, b, h);
  const Rows<T> k = rows_of<T>(x.k, b, head);
  const Rows<T> v = rows_of<T>(x.v, b, head);
  Rows<T> state = rows_of<T>(x.past, b, head);
  const auto D = static_cast<std::size_t>(x.q.dim(3));
  const T scale = 1 / std::sqrt(static_cast<T>(D));
  for (std::size_t t = 0; t < q.size(); ++t) {
    const auto token = static_cast<std::int64_t>(t);
    for (std::size_t d = 0; options.decay && d < D; ++d) {
      const std::int64_t column = options.decay->dim(3) == 1 ? 0 : static_cast<std::int64_t>(d);
      const T keep = std::exp(static_cast<T>(options.decay->at({b, head, token, column})));
      for (T& s : state[d]) s *= keep;
    }
    for (std::size_t n = 0; n < v[t].size(); ++n) {
      T written = v[t][n];
      if (options.beta) {
        T held = 0;
        for (std::size_t d = 0; d < D; ++d) held += k[t][d] * state[d][n];
        const std::int64_t rate_head = options.beta->dim(1) == 1 ? 0 : head;
        written = static_cast<T>(options.beta->at({b, rate_head, token})) * (written - held);
      }
      T sum = 0;
      for (std::size_t d = 0; d < D; ++d) {
        state[d][n] += k[t][d] * written;
        sum += q[t][d] * state[d][n];
      }
      out.push_back(scale * sum);
    }
  }
}

template <class T>
std::vector<T> reference(const RecurrentCall& x, const RecurrentAttentionOptions& options) {
  std::vector<T> out;
  for (std::int64_t b = 0; b < x.q.dim(0); ++b) {
    for (std::int64_t h = 0; h < x.q.dim(1); ++h) recur_reference(x, options, b, h, out);
  }
  return out;
}

void expect_as_reference(const RecurrentCall& x, const RecurrentAttentionOptions& options) {
  const auto truth = reference<long double>(x, options);
  const double bound = x.q.dtype() == DType::f64 ? tolerance(reference<double>(x, options), truth, 0x1p-53)
                                                 : tolerance(reference<float>(x, options), truth, 0x1p-24);
  EXPECT_LE(largest_difference(x.run(options).out.to_vector(), truth), bound)
      << static_cast<int>(options.rule) << " " << x.q.shape().to_string() << " " << x.v.shape().to_string();
}

TEST(RecurrentAttention, IsWhatEachRuleSays) {
  for (const Extents& e : {Extents{.Tq = 1, .D = 1, .Dv = 1}, Extents{.Tq = 65, .D = 7, .Dv = 17},
                           Extents{.B = 2, .Hq = 4, .Hk = 2, .Tq = 64, .D = 16, .Dv = 64},
                           Extents{.Hq = 3, .Hk = 1, .Tq = 70, .D = 20, .Dv = 80}}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const RecurrentCall x = inputs_of(e, dtype);
      for (const UpdateRule rule : kRules) expect_as_reference(x, x.options(rule));
    }
  }
}

TEST(RecurrentAttention, TakesOneDecayOrRateForMany) {
  const RecurrentCall x = inputs_of({.B = 2, .Hq = 4, .Hk = 2, .Tq = 9, .D = 5, .Dv = 6});
  RecurrentAttentionOptions options = x.options(UpdateRule::gated_delta);
  options.decay = x.decay.view().slice(3, 2, 3);
  options.beta = x.beta.view().slice(1, 1, 2);
  expect_as_reference(x, options);
}

TEST(RecurrentAttention, AStateTakesCallsApart) {
  const RecurrentCall x = inputs_of({.B = 2, .Hq = 4, .Hk = 2, .Tq = 70, .D = 5, .Dv = 6});
  for (const UpdateRule rule : kRules) {
    const RecurrentAttentionResult whole = x.run(x.options(rule));
    const auto part = [&](std::int64_t begin, std::int64_t end, const TensorView& past) {
      RecurrentAttentionOptions options = x.options(rule);
      if (options.decay) options.decay = options.decay->slice(2, begin, end);
      if (options.beta) options.beta = options.beta->slice(2, begin, end);
      options.past_state = past;
      return recurrent_attention(x.q.view().slice(2, begin, end), x.k.view().slice(2, begin, end),
                                 x.v.view().slice(2, begin, end), options);
    };
    const RecurrentAttentionResult first = part(0, 33, x.past);
    const RecurrentAttentionResult second = part(33, 70, first.state);
    EXPECT_EQ(second.state.to_vector(), whole.state.to_vector());
    EXPECT_EQ(second.out.to_vector(), Tensor(whole.out.view().slice(2, 33, 70)).to_vector());
  }
}

TEST(RecurrentAttention, TheStateHasThePastsType) {
  RecurrentCall x = inputs_of({.Tq = 3, .D = 4, .Dv = 2}, DType::f16);
  EXPECT_EQ(x.run(x.options(UpdateRule::linear)).state.dtype(), DType::f16);
  x.past = x.past.to(DType::f32);
  EXPECT_EQ(x.run(x.options(UpdateRule::linear)).state.dtype(), DType::f32);
  EXPECT_EQ(x.run({}).state.dtype(), DType::f16);
}

TEST(RecurrentAttention, OfNoTokensIsThePast) {
  const RecurrentCall x = inputs_of({.Tq = 0, .D = 4, .Dv = 2});
  for (const UpdateRule rule : kRules) {
    const RecurrentAttentionResult result = x.run(x.options(rule));
    EXPECT_EQ(result.out.shape().to_string(), "[1, 1, 0, 2]");
    EXPECT_EQ(result.state.to_vector(), x.past.to_vector());
  }
  EXPECT_THAT(x.run({}).state.to_vector(), testing::Each(0.0));
}

TEST(RecurrentAttention, GivesTheSameOnAnyNumberOfThreads) {
  const RecurrentCall x = inputs_of({.B = 3, .Hq = 4, .Hk = 2, .Tq = 20, .D = 5, .Dv = 6});
  for (const UpdateRule rule : kRules) {
    RecurrentAttentionOptions options = x.options(rule);
    options.threads = 1;
    const std::vector<double> one = x.run(options).out.to_vector();
    options.threads = 4;
    EXPECT_EQ(x.run(options).out.to_vector(), one);
  }
}

TEST(RecurrentAttention, RefusesWhatDoesNotFit) {
  const RecurrentCall x = inputs_of({.Hq = 4, .Hk = 2, .Tq = 3, .D = 8, .Dv = 5});
  const auto refusal = [&](const RecurrentAttentionOptions& options) {
    return error_message([&] { static_cast<void>(x.run(options)); });
  };
  EXPECT_EQ(refusal({.rule = UpdateRule::gated}),
            "recurrent_attention: decay: expected a tensor, wanted by the rule gated, got none");
  EXPECT_EQ(refusal({.rule = UpdateRule::delta}),
            "recurrent_attention: beta: expected a tensor, wanted by the rule delta, got none");
  EXPECT_EQ(refusal({.decay = x.decay.view()}),
            "recurrent_attention: decay: expected none, not used by the rule linear, got [1, 2, 3, 8]");
  EXPECT_EQ(refusal({.rule = UpdateRule::gated, .decay = x.decay.view(), .beta = x.beta.view()}),
            "recurrent_attention: beta: expected none, not used by the rule gated, got [1, 2, 3]");
  EXPECT_EQ(refusal({.rule = UpdateRule::gated, .decay = x.q.view()}),
            "recurrent_attention: decay: expected [1, 2, 3, 8] or [1, 2, 3, 1], got [1, 4, 3, 8]");
  EXPECT_EQ(refusal({.rule = UpdateRule::delta, .beta = x.q.view()}),
            "recurrent_attention: beta: expected [1, 2, 3] or [1, 1, 3], got [1, 4, 3, 8]");
  const Tensor half = x.beta.to(DType::f16);
  EXPECT_EQ(refusal({.rule = UpdateRule::delta, .beta = half.view()}),
            "recurrent_attention: beta: expected f32 as q, got f16");
  EXPECT_EQ(refusal({.past_state = x.q.view()}),
            "recurrent_attention: past_state: expected a shape [B, Hk, D, Dv] = [1, 2, 8, 5], got [1, 4, 3, 8]");
  const Tensor whole(DType::i32, {1, 2, 8, 5});
  EXPECT_EQ(refusal({.past_state = whole.view()}),
            "recurrent_attention: past_state: expected f64, f32, f16 or bf16, got i32");
  EXPECT_EQ(refusal({.scale = INFINITY}), "recurrent_attention: scale: expected a finite number, got inf");
  EXPECT_EQ(refusal({.threads = 0}), "recurrent_attention: threads: expected 1 or more, got 0");
  EXPECT_EQ(error_message([&] { static_cast<void>(recurrent_attention(x.q.view().slice(2, 0, 2), x.k, x.v)); }),
            "recurrent_attention: k: expected T = 2 as in q [1, 4, 2, 8], got [1, 2, 3, 8]");
}

}  // namespace
}  // namespace qkv::recurrent_attention_test
