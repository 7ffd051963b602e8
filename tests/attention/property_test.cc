// What holds for every call of attention, whatever its numbers.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/random_call.h"

namespace qkv::testing_attention::property_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The rows of a [.., .., .., n] tensor, one after another.
template <class Body>
void for_each_row(const Tensor& x, const Body& body) {
  const std::vector<double> values = x.to_vector();
  const auto width = static_cast<std::size_t>(x.dim(-1));
  const std::size_t rows = width == 0 ? 0 : values.size() / width;
  for (std::size_t row = 0; row < rows; ++row) body(row, std::span<const double>(values).subspan(row * width, width));
}

RC_GTEST_PROP(AttentionProperty, RowsOfWeightsSumToOneOrZero, ()) {
  const Call call = any_call();
  const auto stages = attention_stages(call.q, call.k, call.options(), {Stage::masked, Stage::weights});
  const std::vector<double> masked = stages[0].to_vector();
  for_each_row(stages[1], [&](std::size_t row, std::span<const double> weights) {
    double sum = 0;
    bool sees_nothing = true;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      RC_ASSERT(weights[j] >= 0);
      sum += weights[j];
      sees_nothing = sees_nothing && masked[row * weights.size() + j] == -kInfinity;
    }
    // Two sums of Tk terms and a division each: 2 Tk roundings of 2^-53 at most.
    const double bound = 2 * static_cast<double>(weights.size()) * 0x1p-53;
    RC_ASSERT(std::fabs(sum - (sees_nothing ? 0 : 1)) <= (sees_nothing ? 0 : bound));
  });
}

RC_GTEST_PROP(AttentionProperty, OutLiesBetweenTheVisibleValues, ()) {
  const Call call = any_call();
  const Tensor out = call.run().out;
  const Tensor masked = attention_stage(call.q, call.k, call.options(), Stage::masked);
  const double slack = rounding_bounds(call).out;
  const std::int64_t group = call.q.dim(1) / call.k.dim(1);
  for (std::int64_t b = 0; b < out.dim(0); ++b) {
    for (std::int64_t h = 0; h < out.dim(1); ++h) {
      for (std::int64_t i = 0; i < out.dim(2); ++i) {
        for (std::int64_t d = 0; d < out.dim(3); ++d) {
          double low = kInfinity;
          double high = -kInfinity;
          for (std::int64_t j = 0; j < call.k.dim(2); ++j) {
            if (masked.at({b, h, i, j}) == -kInfinity) continue;
            low = std::min(low, call.v.at({b, h / group, j, d}));
            high = std::max(high, call.v.at({b, h / group, j, d}));
          }
          const double value = out.at({b, h, i, d});
          if (low > high) {
            RC_ASSERT(value == 0.0);
          } else {
            RC_ASSERT(value >= low - slack && value <= high + slack);
          }
        }
      }
    }
  }
}

RC_GTEST_PROP(AttentionProperty, PermutingKeysWithTheirValuesChangesNothing, ()) {
  const Call call = any_call();
  const auto order = any_order(call.k.dim(2));
  Call permuted = call;
  permuted.k = take(call.k, 2, order);
  permuted.v = take(call.v, 2, order);
  permuted.visible = take(call.visible, 3, order);
  permuted.bias = take(call.bias, 3, order);
  const AttentionResult one = call.run();
  const AttentionResult other = permuted.run();
  const RoundingBounds bounds = rounding_bounds(call);
  RC_ASSERT(largest_difference(one.out, other.out) <= 2 * bounds.out);
  // Each score is computed from the same numbers, so only the order of the row's sum differs.
  RC_ASSERT(largest_difference(one.lse, other.lse) <= 2 * bounds.weight + 2 * bounds.score);
}

RC_GTEST_PROP(AttentionProperty, PermutingQueriesPermutesTheOutput, ()) {
  const Call call = any_call();
  const auto order = any_order(call.q.dim(2));
  Call permuted = call;
  permuted.q = take(call.q, 2, order);
  permuted.visible = take(call.visible, 2, order);
  permuted.bias = take(call.bias, 2, order);
  const AttentionResult result = permuted.run();
  RC_ASSERT(largest_difference(take(call.run().out, 2, order), result.out) == 0.0);
  RC_ASSERT(largest_difference(take(call.run().lse, 2, order), result.lse) == 0.0);
}

RC_GTEST_PROP(AttentionProperty, GroupedHeadsEqualRepeatedHeads, ()) {
  const Call call = any_call();
  const std::int64_t Hq = call.q.dim(1);
  std::vector<std::int64_t> key_head;
  for (std::int64_t h = 0; h < Hq; ++h) key_head.push_back(h / (Hq / call.k.dim(1)));
  Call repeated = call;
  repeated.k = take(call.k, 1, key_head);
  repeated.v = take(call.v, 1, key_head);
  RC_ASSERT(largest_difference(call.run().out, repeated.run().out) == 0.0);
}

RC_GTEST_PROP(AttentionProperty, AHighSoftcapIsNone, ()) {
  Call call = any_call();
  call.softcap = std::nullopt;
  Call capped = call;
  constexpr double kCap = 1e5;
  capped.softcap = kCap;
  const RoundingBounds bounds = rounding_bounds(call);
  // |x - c tanh(x / c)| <= |x|^3 / (3 c^2); a change of at most e in each score moves weights by a factor e^(2e).
  double largest = 0;
  for (const double score : attention_stage(call.q, call.k, call.options(), Stage::scaled).to_vector()) {
    largest = std::max(largest, std::fabs(score));
  }
  double value = 0;
  for (const double v : call.v.to_vector()) value = std::max(value, std::fabs(v));
  const double moved = largest * largest * largest / (3 * kCap * kCap);
  RC_ASSERT(largest_difference(call.run().out, capped.run().out) <= 2 * bounds.out + std::expm1(2 * moved) * value);
}

RC_GTEST_PROP(AttentionProperty, LseIsTheLogOfTheSumOfExpOfTheMaskedScores, ()) {
  const Call call = any_call();
  const std::vector<double> lse = call.run().lse.to_vector();
  for_each_row(attention_stage(call.q, call.k, call.options(), Stage::masked),
               [&](std::size_t row, std::span<const double> scores) {
                 long double sum = 0;
                 for (const double score : scores) sum += std::exp(static_cast<long double>(score));
                 const auto expected = static_cast<double>(std::log(sum));
                 if (sum == 0) {
                   RC_ASSERT(lse[row] == -kInfinity);
                 } else {
                   // exp and the sum are right to (Tk + 4) u; log and adding the maximum round twice.
                   const double bound = (static_cast<double>(scores.size()) + 4 + 4 * std::fabs(expected) +
                                         2 * std::fabs(*std::max_element(scores.begin(), scores.end()))) *
                                        0x1p-53;
                   RC_ASSERT(std::fabs(lse[row] - expected) <= bound);
                 }
               });
}

RC_GTEST_PROP(AttentionProperty, StridesDoNotMatter, ()) {
  const Call call = any_call();
  const Tensor q(call.q.view().transpose(1, 2));
  const Tensor k(call.k.view().transpose(0, 3));
  const Tensor v(call.v.view().transpose(2, 3));
  const AttentionResult strided =
      attention(q.view().transpose(1, 2), k.view().transpose(0, 3), v.view().transpose(2, 3), call.options());
  const AttentionResult dense = call.run();
  RC_ASSERT(largest_difference(strided.out, dense.out) == 0.0);
  RC_ASSERT(largest_difference(strided.lse, dense.lse) == 0.0);
}

RC_GTEST_PROP(AttentionProperty, ABiasOfMinusInfinityIsAMask, ()) {
  Call call = any_call();
  Call masked = call;
  const std::span<double> bias = masked.bias.values<double>();
  const std::span<bool> visible = masked.visible.values<bool>();
  for (std::size_t n = 0; n < bias.size(); ++n) {
    if (bias[n] != -kInfinity) continue;
    visible[n] = false;
    bias[n] = 0;
  }
  RC_ASSERT(largest_difference(call.run().out, masked.run().out) == 0.0);
  RC_ASSERT(largest_difference(call.run().lse, masked.run().lse) == 0.0);
}

RC_GTEST_PROP(AttentionProperty, WhatIsForbiddenDoesNotLeak, ()) {
  const Call call = any_call();
  const Tensor masked = attention_stage(call.q, call.k, call.options(), Stage::masked);
  // One (batch, head, query) at a time: its own forbidden keys turn to NaN, whoever else may see them.
  const std::int64_t group = call.q.dim(1) / call.k.dim(1);
  const AttentionResult clean = call.run();
  for (std::int64_t b = 0; b < call.q.dim(0); ++b) {
    for (std::int64_t h = 0; h < call.q.dim(1); ++h) {
      for (std::int64_t i = 0; i < call.q.dim(2); ++i) {
        Call poisoned = call;
        for (std::int64_t j = 0; j < call.k.dim(2); ++j) {
          if (masked.at({b, h, i, j}) != -kInfinity) continue;
          poisoned.k.set({b, h / group, j, 0}, std::nan(""));
          poisoned.v.set({b, h / group, j, 0}, std::nan(""));
        }
        const AttentionResult result = poisoned.run();
        RC_ASSERT(result.out.at({b, h, i, 0}) == clean.out.at({b, h, i, 0}));
        RC_ASSERT(result.lse.at({b, h, i}) == clean.lse.at({b, h, i}));
      }
    }
  }
}

RC_GTEST_PROP(AttentionProperty, DropoutIsAFunctionOfSeedAndPlace, ()) {
  const Call call = any_call();
  AttentionOptions options = call.options();
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  constexpr double kP = 0.4;
  options.dropout = Dropout{.p = kP, .seed = seed};
  const auto stages = attention_stages(call.q, call.k, options, {Stage::weights, Stage::dropped});
  for (std::int64_t b = 0; b < call.q.dim(0); ++b) {
    for (std::int64_t h = 0; h < call.q.dim(1); ++h) {
      for (std::int64_t i = 0; i < call.q.dim(2); ++i) {
        for (std::int64_t j = 0; j < call.k.dim(2); ++j) {
          const double weight = stages[0].at({b, h, i, j});
          const bool keeps = dropout_keeps(seed, kP, {.b = b, .h = h, .i = i, .j = j});
          RC_ASSERT(stages[1].at({b, h, i, j}) == (keeps ? weight / (1 - kP) : 0.0));
        }
      }
    }
  }
  const AttentionResult one = attention(call.q, call.k, call.v, options);
  RC_ASSERT(largest_difference(one.out, attention(call.q, call.k, call.v, options).out) == 0.0);
  RC_ASSERT(largest_difference(one.lse, call.run().lse) == 0.0);
}

// Over n seeds the mean of `out` strays from the undropped one by a standard deviation of at most
// sqrt(p / (1 - p) / n) * |w . v|_2 <= sqrt(p / (1 - p) / n) * max|v|; six of them are allowed.
TEST(AttentionDropout, LeavesTheExpectationAsItWas) {
  const Tensor q(std::vector<double>{0.3, -0.2}, {1, 1, 1, 2});
  const Tensor k(std::vector<double>{1, 0, 0, 1, 1, 1, -1, 2}, {1, 1, 4, 2});
  const Tensor v(std::vector<double>{1, -2, 3, 4}, {1, 1, 4, 1});
  constexpr double kP = 0.25;
  constexpr int kSeeds = 4000;
  double mean = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    mean += attention(q, k, v, {.dropout = Dropout{.p = kP, .seed = seed}}).out.at({0, 0, 0, 0}) / kSeeds;
  }
  EXPECT_NEAR(mean, attention(q, k, v).out.at({0, 0, 0, 0}), 6 * std::sqrt(kP / (1 - kP) / kSeeds) * 4);
}

}  // namespace
}  // namespace qkv::testing_attention::property_test
