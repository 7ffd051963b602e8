// The backward pass of f32 on the tile unit in three parts of bf16, beside the same by AVX-512: the error, and what
// cannot be split.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "kernels/fused_call.h"
#include "qkv/backward.h"
#include "qkv/random.h"

namespace qkv::kernels::split_backward_test {
namespace {

struct Sizes {
  std::int64_t H = 1;
  std::int64_t Tq = 128;
  std::int64_t Tk = 1000;
  std::int64_t D = 64;
};

struct Drawn : testing_attention::QkvAndUpstream {
  explicit Drawn(const Sizes& sizes) {
    Generator random(7);
    q = random.randn({1, sizes.H, sizes.Tq, sizes.D});
    k = random.randn({1, sizes.H, sizes.Tk, sizes.D});
    v = random.randn({1, sizes.H, sizes.Tk, sizes.D});
    d_out = random.randn({1, sizes.H, sizes.Tq, sizes.D});
    d_lse = random.randn({1, sizes.H, sizes.Tq});
  }

  double scale = 0.125;
};

AttentionGradients gradients(const Drawn& inputs, DType dtype, std::string_view target, int threads = 1) {
  const Tensor q = inputs.q.to(dtype);
  const Tensor k = inputs.k.to(dtype);
  const Tensor v = inputs.v.to(dtype);
  AttentionOptions options = {.scale = inputs.scale, .mask = causal(), .threads = threads};
  options.target = dtype == DType::f64 ? "reference" : "avx512";
  const AttentionResult result = attention(q, k, v, options);
  options.target = target;
  const Tensor d_lse = inputs.d_lse.to(result.lse.dtype());
  return attention_backward(inputs.d_out.to(dtype), q, k, v, result.out, result.lse, options, {.d_lse = d_lse});
}

AttentionGradients split(const Drawn& inputs, int threads = 1) {
  return gradients(inputs, DType::f32, "amxf32", threads);
}
AttentionGradients by_fma(const Drawn& inputs) { return gradients(inputs, DType::f32, "avx512"); }

struct Named {
  std::string name;
  Tensor AttentionGradients::* of;
};
const std::array<Named, 3> kAll = {Named{"d_q", &AttentionGradients::d_q}, Named{"d_k", &AttentionGradients::d_k},
                                   Named{"d_v", &AttentionGradients::d_v}};

bool same_bits(const TensorView& a, const TensorView& b) { return error_of(a, b) == 0; }

// By the tile unit, and no farther from f64 than `times` the vector unit's.
void expect_split(const Drawn& inputs, double times) {
  const AttentionGradients expected = gradients(inputs, DType::f64, "reference");
  const AttentionGradients parts = split(inputs);
  const AttentionGradients fma = by_fma(inputs);
  for (const auto& [name, of] : kAll) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(same_bits(parts.*of, fma.*of));  // another way was taken
    EXPECT_LE(rms_error(parts.*of, expected.*of), times * rms_error(fma.*of, expected.*of));
  }
}

class SplitBackward : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::string_view> all = fused_targets();
    if (std::ranges::find(all, "amxf32") == all.end()) GTEST_SKIP() << "no tile unit";
  }
};

TEST_F(SplitBackward, ErrsNoMoreThanFusedMultiplyAdds) {
  for (const std::int64_t D : {40, 64, 112, 128, 320}) {
    const Drawn inputs({.D = D});
    SCOPED_TRACE(D);
    expect_split(inputs, 1);
  }
}

// Such a query sends its key head to the vector unit.
TEST_F(SplitBackward, LeavesQueriesThatCannotBeSplit) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float number : {infinity, nan, 3e38F, -0x1p20F, 0x1p-54F, 1e-40F}) {
    for (Tensor Drawn::*const place : std::array<Tensor Drawn::*, 2>{&Drawn::q, &Drawn::d_out}) {
      SCOPED_TRACE(number);
      Drawn inputs({.H = 2, .Tq = 100, .Tk = 200, .D = 72});
      (inputs.*place).set({0, 1, 60, 71}, number);
      const AttentionGradients parts = split(inputs);
      const AttentionGradients fma = by_fma(inputs);
      for (const auto& [name, of] : kAll) {
        EXPECT_FALSE(same_bits((parts.*of).view().slice(1, 0, 1), (fma.*of).view().slice(1, 0, 1))) << name;
        EXPECT_TRUE(same_bits((parts.*of).view().slice(1, 1, 2), (fma.*of).view().slice(1, 1, 2))) << name;
      }
    }
  }
}

// Such a key sends its task there, whose share of d_q is added to that of others.
TEST_F(SplitBackward, LeavesKeysThatCannotBeSplit) {
  struct Place {
    Tensor Drawn::* of;
    float number;
  };
  for (const auto& [of_inputs, number] :
       {Place{&Drawn::v, 0x1p20F}, Place{&Drawn::v, 0x1p-51F}, Place{&Drawn::k, 0x1p-51F}, Place{&Drawn::k, -1e-40F}}) {
    SCOPED_TRACE(number);
    Drawn inputs({.Tq = 300, .Tk = 300, .D = 72});
    (inputs.*of_inputs).set({0, 0, 280, 3}, number);  // which the last 20 queries see
    const AttentionGradients parts = split(inputs);
    const AttentionGradients fma = by_fma(inputs);
    for (Tensor AttentionGradients::* const of : {&AttentionGradients::d_k, &AttentionGradients::d_v}) {
      EXPECT_FALSE(same_bits((parts.*of).view().slice(2, 0, 256), (fma.*of).view().slice(2, 0, 256)));
      EXPECT_TRUE(same_bits((parts.*of).view().slice(2, 256, 300), (fma.*of).view().slice(2, 256, 300)));
    }
    EXPECT_FALSE(same_bits(parts.d_q, fma.d_q));
    EXPECT_LE(rms_error(parts.d_q, fma.d_q), number < 1 ? 1e-6 : 1);
  }
}

TEST_F(SplitBackward, LeavesLargeGradientsOfLse) {
  Drawn inputs({.Tq = 64, .Tk = 64});
  inputs.d_lse.set({0, 0, 5}, 0x1p50F);
  const AttentionGradients parts = split(inputs);
  const AttentionGradients fma = by_fma(inputs);
  for (const auto& [name, of] : kAll) EXPECT_TRUE(same_bits(parts.*of, fma.*of)) << name;
}

TEST_F(SplitBackward, HasTheSameBitsOnAnyNumberOfThreads) {
  Drawn inputs({.H = 3, .Tq = 300, .Tk = 500});
  inputs.k.set({0, 1, 400, 3}, 0x1p30F);
  inputs.q.set({0, 2, 100, 3}, 0x1p30F);
  const AttentionGradients one = split(inputs);
  for (const int threads : {2, 3}) {
    const AttentionGradients many = split(inputs, threads);
    for (const auto& [name, of] : kAll) EXPECT_TRUE(same_bits(many.*of, one.*of)) << name << ", " << threads;
  }
}

// Gradients have any size: each block's d_out is split relative to its largest. Of so few keys, whose lse both round
// alike, the errors are nearly the same.
TEST_F(SplitBackward, SplitsGradientsOfAnySize) {
  for (const float size : {1e-9F, 1e-20F, 1e3F}) {
    Drawn inputs({.Tk = 300});
    for (float& x : inputs.d_out.values<float>()) x *= size;
    for (float& x : inputs.d_lse.values<float>()) x *= size;
    expect_split(inputs, 1.15);
  }
}

// At both ends of what is split, with zeros among them.
TEST_F(SplitBackward, SplitsNumbersFarFromOne) {
  for (const double size : {0x1p-49, 0x1p16}) {
    Drawn inputs({.Tk = 300});
    for (Tensor* tensor : {&inputs.q, &inputs.k, &inputs.v, &inputs.d_out}) {
      for (float& x : tensor->values<float>()) {
        // NOLINTNEXTLINE(bugprone-narrowing-conversions): rounded on purpose
        x = std::fabs(x) < 0.5F ? 0.0F : static_cast<float>(x * size);
      }
    }
    for (float& x : inputs.d_lse.values<float>()) x *= static_cast<float>(size * size);
    inputs.scale /= size * size;
    expect_split(inputs, 1.05);
  }
}

// A key that weighs little has a small gradient of its own. Scores are exact.
TEST_F(SplitBackward, KeepsThePrecisionOfSmallWeights) {
  Drawn inputs({.Tq = 64, .Tk = 2, .D = 32});
  for (float& x : inputs.q.values<float>()) x = 1;
  for (float& x : inputs.k.values<float>()) x = 0;
  for (std::int64_t d = 0; d < 32; ++d) inputs.k.set({0, 0, 0, d}, 2.375);  // the other key weighs 2^-109.6
  inputs.scale = 1;
  const AttentionGradients parts = split(inputs);
  const AttentionGradients fma = by_fma(inputs);
  for (std::int64_t d = 0; d < 32; ++d) {
    EXPECT_NEAR(parts.d_v.at({0, 0, 1, d}), fma.d_v.at({0, 0, 1, d}), 0x1p-106 * 0x1p-20) << d;
    EXPECT_NEAR(parts.d_k.at({0, 0, 1, d}), fma.d_k.at({0, 0, 1, d}), 0x1p-104 * 0x1p-20) << d;
    EXPECT_NE(parts.d_v.at({0, 0, 1, d}), 0) << d;
  }
}

}  // namespace
}  // namespace qkv::kernels::split_backward_test
