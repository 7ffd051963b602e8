#include "qkv/linear_attention.h"

#include <gmock/gmock.h>

#include <limits>

#include "attention/fused_call.h"
#include "attention/linear_reference.h"
#include "core/error_message.h"
#include "core/unit_roundoff.h"
#include "qkv/heads.h"
#include "qkv/kv.h"
#include "qkv/random.h"

namespace qkv::linear_attention_test {
namespace {

using testing_attention::Qkv;
using testing_linear::elu_by_state;
using testing_linear::Extents;
using testing_linear::largest_difference;
using testing_linear::linear_reference;
using testing_linear::tolerance;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Qkv inputs_of(const Extents& e, DType dtype = DType::f32, std::uint64_t seed = 1) {
  Generator random(seed);
  return {.q = random.randn({e.B, e.Hq, e.Tq, e.D}).to(dtype),
          .k = random.randn({e.B, e.Hk, e.Tk, e.D}).to(dtype),
          .v = random.randn({e.B, e.Hk, e.Tk, e.Dv}).to(dtype)};
}

const std::vector<LinearAttentionOptions>& all_options() {
  static const std::vector<LinearAttentionOptions> kOptions = {
      {.features = FeatureMap::elu_plus_one, .causal = false},
      {.features = FeatureMap::elu_plus_one, .causal = true},
      {.features = FeatureMap::softmax, .causal = false},
      {.features = FeatureMap::softmax, .causal = true},
  };
  return kOptions;
}

template <class T>
std::vector<T> plain(const TensorView& q, const TensorView& k, const TensorView& v,
                     const LinearAttentionOptions& options) {
  if (options.features == FeatureMap::elu_plus_one) return elu_by_state<T>(q, k, v, options.causal);
  return linear_reference<T>(q, k, v, options);
}

void expect_as_reference(const TensorView& q, const TensorView& k, const TensorView& v,
                         const LinearAttentionOptions& options) {
  const std::vector<double> got = linear_attention(q, k, v, options).to_vector();
  const auto truth = linear_reference<long double>(q, k, v, options);
  const double rounding = core::unit_roundoff(q.dtype());
  const double bound = q.dtype() == DType::f64 ? tolerance(plain<double>(q, k, v, options), truth, rounding)
                                               : tolerance(plain<float>(q, k, v, options), truth, rounding);
  ASSERT_EQ(got.size(), truth.size());
  EXPECT_LE(largest_difference(got, truth), bound)
      << q.shape().to_string() << " " << k.shape().to_string() << " " << v.shape().to_string() << " "
      << name_of(q.dtype()) << " features " << static_cast<int>(options.features) << (options.causal ? " causal" : "");
}

TEST(LinearAttention, IsWhatTheFormulaSaysAtEveryEdgeOfAChunk) {
  for (const Extents& e : {Extents{.Tq = 1, .Tk = 1, .D = 1, .Dv = 1}, Extents{.Tq = 63, .Tk = 63, .D = 7, .Dv = 17},
                           Extents{.B = 2, .Hq = 2, .Hk = 2, .Tq = 64, .Tk = 64, .D = 16, .Dv = 64},
                           Extents{.Hq = 4, .Hk = 2, .Tq = 65, .Tk = 65, .D = 33, .Dv = 80},
                           Extents{.Hq = 6, .Hk = 2, .Tq = 5, .Tk = 131, .D = 8, .Dv = 5},
                           Extents{.Hq = 3, .Hk = 1, .Tq = 131, .Tk = 5, .D = 8, .Dv = 16}}) {
    for (const LinearAttentionOptions& options : all_options()) {
      const Qkv x = inputs_of(e);
      expect_as_reference(x.q, x.k, x.v, options);
    }
  }
}

TEST(LinearAttention, TakesEveryStorageType) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    for (const LinearAttentionOptions& options : all_options()) {
      const Qkv x = inputs_of({.Hq = 2, .Hk = 1, .Tq = 40, .Tk = 40, .D = 12, .Dv = 9}, dtype);
      expect_as_reference(x.q, x.k, x.v, options);
    }
  }
}

TEST(LinearAttention, TakesAnyStrides) {
  Generator random(3);
  const Tensor q = random.randn({2, 9, 3 * 4});
  const Tensor k = random.randn({2, 4, 9, 3}).to(DType::f32);
  const Tensor v = random.randn({2, 1, 9, 5});
  for (const LinearAttentionOptions& options : all_options()) {
    // Packed heads, a last stride that is not 1, and one head's values standing for three by stride 0.
    const TensorView keys = k.view().transpose(1, 3);
    expect_as_reference(split_heads(q, 3), keys, v.view().broadcast_to({2, 3, 9, 5}), options);
  }
}

TEST(LinearAttention, CausalRowsAreThoseOfPrefixes) {
  const Qkv x = inputs_of({.Tq = 70, .Tk = 70, .D = 8, .Dv = 6}, DType::f64);
  for (const FeatureMap features : {FeatureMap::elu_plus_one, FeatureMap::softmax}) {
    const Tensor causal = linear_attention(x.q, x.k, x.v, {.features = features, .causal = true});
    for (const std::int64_t seen : {1, 2, 63, 64, 65, 70}) {
      const Tensor prefix = linear_attention(x.q.view().slice(2, seen - 1, seen), x.k.view().slice(2, 0, seen),
                                             x.v.view().slice(2, 0, seen), {.features = features});
      const TensorView row = causal.view().slice(2, seen - 1, seen);
      // Two sums of `seen` terms and of D, in other orders.
      const double bound = 4 * (static_cast<double>(seen) + 8) * 0x1p-53 * 5;
      EXPECT_LE(largest_difference(row.to_vector(), prefix.to_vector()), bound) << seen;
    }
  }
}

TEST(LinearAttention, AStateTakesCallsApart) {
  const Qkv x = inputs_of({.B = 2, .Hq = 4, .Hk = 2, .Tq = 100, .Tk = 100, .D = 6, .Dv = 20});
  for (const FeatureMap features : {FeatureMap::elu_plus_one, FeatureMap::softmax}) {
    const LinearAttentionOptions options = {.features = features, .causal = true};
    const Tensor whole = linear_attention(x.q, x.k, x.v, options);
    LinearAttentionState state;
    Tensor parts(DType::f32, {2, 4, 0, 20});
    for (const auto& [begin, end] : std::vector<std::pair<int, int>>{{0, 1}, {1, 37}, {37, 37}, {37, 100}}) {
      const auto part = [&, first = begin, last = end](const Tensor& t) { return t.view().slice(2, first, last); };
      parts = concat_time(parts, linear_attention(part(x.q), part(x.k), part(x.v), state, options));
    }
    // Token by token either way: the same sums in the same order.
    EXPECT_EQ(parts.to_vector(), whole.to_vector());
    EXPECT_EQ(state.norms.shape().to_string(), "[2, 2, 6]");
  }
}

TEST(LinearAttention, QueriesWithoutKeysReadTheState) {
  const Qkv x = inputs_of({.Tq = 7, .Tk = 90, .D = 6, .Dv = 4}, DType::f64);
  for (const FeatureMap features : {FeatureMap::elu_plus_one, FeatureMap::softmax}) {
    LinearAttentionState state;
    const auto none = [](const Tensor& t) { return t.view().slice(2, 0, 0); };
    static_cast<void>(linear_attention(none(x.q), x.k, x.v, state, {.features = features}));
    const Tensor read = linear_attention(x.q, none(x.k), none(x.v), state, {.features = features});
    EXPECT_EQ(read.to_vector(), linear_attention(x.q, x.k, x.v, {.features = features}).to_vector());
  }
}

TEST(LinearAttention, OfNothingIsZeros) {
  for (const LinearAttentionOptions& options : all_options()) {
    for (const Extents& e :
         {Extents{.Tq = 3, .Tk = 0, .D = 4, .Dv = 2}, Extents{.B = 0, .Tq = 3, .Tk = 3, .D = 4, .Dv = 2},
          Extents{.Tq = 0, .Tk = 3, .D = 4, .Dv = 2}, Extents{.Tq = 3, .Tk = 3, .D = 4, .Dv = 0}}) {
      const Qkv x = inputs_of(e);
      const Tensor out = linear_attention(x.q, x.k, x.v, options);
      EXPECT_EQ(out.shape().to_string(), Shape({e.B, 1, e.Tq, e.Dv}).to_string());
      EXPECT_THAT(out.to_vector(), testing::Each(0.0));
    }
  }
}

TEST(LinearAttention, GivesTheSameOnAnyNumberOfThreads) {
  const Qkv x = inputs_of({.B = 3, .Hq = 4, .Hk = 2, .Tq = 80, .Tk = 80, .D = 8, .Dv = 8});
  for (LinearAttentionOptions options : all_options()) {
    options.threads = 1;
    const std::vector<double> one = linear_attention(x.q, x.k, x.v, options).to_vector();
    for (const int threads : {2, 5}) {
      options.threads = threads;
      EXPECT_EQ(linear_attention(x.q, x.k, x.v, options).to_vector(), one);
    }
  }
}

TEST(LinearAttention, KeepsHugeKeysFinite) {
  Qkv x = inputs_of({.Tq = 70, .Tk = 70, .D = 3, .Dv = 2});
  for (std::int64_t t = 0; t < 70; ++t) x.k.set({0, 0, t, 0}, t % 2 == 0 ? 300.0 * static_cast<double>(t) : -1e30);
  for (const bool causal : {false, true}) {
    expect_as_reference(x.q, x.k, x.v, {.features = FeatureMap::softmax, .causal = causal});
  }
}

TEST(LinearAttention, NotANumberReachesTheQueriesThatSeeIt) {
  for (const double bad : {kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    Qkv x = inputs_of({.Tq = 6, .Tk = 6, .D = 3, .Dv = 2});
    x.k.set({0, 0, 3, 1}, bad);
    for (const LinearAttentionOptions& options : all_options()) {
      const Tensor out = linear_attention(x.q, x.k, x.v, options);
      for (std::int64_t i = 0; i < 6; ++i) {
        EXPECT_EQ(std::isnan(out.at({0, 0, i, 0})), i >= 3 || !options.causal) << i;
      }
    }
  }
}

TEST(LinearAttention, AKeyOfMinusInfinityHasNoWeightInItsColumn) {
  Qkv x = inputs_of({.Tq = 6, .Tk = 6, .D = 3, .Dv = 2});
  for (const std::int64_t t : {0, 3}) {
    for (std::int64_t d = 0; d < 3; ++d) x.k.set({0, 0, t, d}, -kInfinity);
  }
  for (const LinearAttentionOptions& options : all_options()) expect_as_reference(x.q, x.k, x.v, options);
}

std::string refusal(const TensorView& q, const TensorView& k, const TensorView& v, LinearAttentionState state,
                    const LinearAttentionOptions& options = {}) {
  return error_message([&] { static_cast<void>(linear_attention(q, k, v, state, options)); });
}

TEST(LinearAttention, RefusesWhatDoesNotFit) {
  const Qkv x = inputs_of({.Hq = 4, .Hk = 2, .Tq = 3, .Tk = 3, .D = 8, .Dv = 5});
  EXPECT_EQ(refusal(x.q, x.k, x.q, {}), "linear_attention: v: expected Hk = 2 as in k [1, 2, 3, 8], got [1, 4, 3, 8]");
  EXPECT_EQ(refusal(x.q, x.k.to(DType::f64), x.v, {}), "linear_attention: k: expected f32 as q, got f64");
  EXPECT_EQ(refusal(x.q, x.k, x.v, {}, {.threads = 0}), "linear_attention: threads: expected 1 or more, got 0");

  LinearAttentionState state;
  static_cast<void>(linear_attention(x.q, x.k, x.v, state));
  EXPECT_EQ(refusal(x.q, x.k, x.v.view().slice(3, 0, 4), state),
            "linear_attention: state: expected f32 [1, 2, 8, 4] as sums, got f32 [1, 2, 8, 5]");
  EXPECT_EQ(refusal(x.q.to(DType::f64), x.k.to(DType::f64), x.v.to(DType::f64), state),
            "linear_attention: state: expected f64 [1, 2, 8, 5] as sums, got f32 [1, 2, 8, 5]");
  EXPECT_EQ(refusal(x.q, x.k, x.v, state, {.features = FeatureMap::softmax}),
            "linear_attention: state: expected one of softmax features, got one of other features");
  LinearAttentionState mixed = {.sums = state.sums, .norms = Tensor(DType::f32, {1, 2, 7}), .peaks = {}};
  EXPECT_EQ(refusal(x.q, x.k, x.v, mixed),
            "linear_attention: state: expected f32 [1, 2, 8] as norms, got f32 [1, 2, 7]");
}

}  // namespace
}  // namespace qkv::linear_attention_test
