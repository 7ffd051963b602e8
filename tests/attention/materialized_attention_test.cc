#include "qkv/materialized_attention.h"

#include <gmock/gmock.h>

#include "attention/fused_call.h"
#include "attention/random_call.h"
#include "core/error_message.h"
#include "qkv/attention.h"

namespace qkv::materialized_attention_test {
namespace {

using testing_attention::Qkv;

Qkv inputs_of(std::int64_t Hq, std::int64_t Hk, std::int64_t Tq, std::int64_t Tk, std::int64_t D, std::int64_t Dv,
              DType dtype) {
  return testing_attention::inputs_of({.B = 2, .H = Hq, .Tq = Tq, .Tk = Tk}, {.Hk = Hk, .D = D, .Dv = Dv}, dtype);
}

TEST(MaterializedAttention, IsAttention) {
  for (const DType dtype : {DType::f64, DType::f32}) {
    for (const bool causal : {false, true}) {
      for (const Qkv& x : {inputs_of(1, 1, 1, 1, 1, 1, dtype), inputs_of(4, 2, 49, 49, 7, 17, dtype),
                           inputs_of(2, 1, 3, 600, 64, 64, dtype), inputs_of(2, 2, 70, 5, 8, 80, dtype)}) {
        const Tensor want = attention(x.q.to(DType::f64), x.k.to(DType::f64), x.v.to(DType::f64),
                                      {.mask = causal ? qkv::causal() : all()})
                                .out;
        const Tensor got = materialized_attention(x.q, x.k, x.v, {.causal = causal});
        EXPECT_EQ(got.dtype(), dtype);
        // Weights are off by D + 8 roundings of a score of at most 20, out by as many again of values of at most 5.
        const double rounding = dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
        const double weight = 2 * (static_cast<double>(x.q.dim(3)) + 8) * 20 + static_cast<double>(x.k.dim(2)) + 4;
        EXPECT_LE(testing_attention::largest_difference(got, want), 2 * weight * 5 * rounding);
      }
    }
  }
}

TEST(MaterializedAttention, OfNothingIsZeros) {
  const Qkv x = inputs_of(2, 1, 3, 0, 4, 5, DType::f32);
  EXPECT_THAT(materialized_attention(x.q, x.k, x.v).to_vector(), testing::Each(0.0));
  const Qkv behind = inputs_of(1, 1, 5, 2, 4, 5, DType::f32);
  const Tensor out = materialized_attention(behind.q, behind.k, behind.v, {.causal = true});
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(out.at({0, 0, i, 0}), 0);
}

TEST(MaterializedAttention, GivesTheSameOnAnyNumberOfThreads) {
  const Qkv x = inputs_of(2, 1, 130, 130, 8, 8, DType::f32);
  EXPECT_EQ(materialized_attention(x.q, x.k, x.v, {.threads = 1}).to_vector(),
            materialized_attention(x.q, x.k, x.v, {.threads = 3}).to_vector());
}

TEST(MaterializedAttention, RefusesWhatDoesNotFit) {
  const Qkv x = inputs_of(4, 2, 3, 3, 8, 5, DType::f32);
  const auto refusal = [](const auto&... arguments) {
    return error_message([&] { static_cast<void>(materialized_attention(arguments...)); });
  };
  EXPECT_EQ(refusal(x.q, x.k, x.q),
            "materialized_attention: v: expected Hk = 2 as in k [2, 2, 3, 8], got [2, 4, 3, 8]");
  EXPECT_EQ(refusal(x.q, x.k, x.v, MaterializedAttentionOptions{.scale = INFINITY}),
            "materialized_attention: scale: expected a finite number, got inf");
  EXPECT_EQ(refusal(x.q, x.k, x.v, MaterializedAttentionOptions{.threads = 0}),
            "materialized_attention: threads: expected 1 or more, got 0");
}

}  // namespace
}  // namespace qkv::materialized_attention_test
