// A random loss of attention and everything that it depends on, for tests of gradients.
#pragma once

#include <functional>
#include <vector>

#include "qkv/backward.h"

namespace qkv::testing_attention {

/// A term of a bias, and how it is made from its numbers.
struct RandomTerm {
  Tensor numbers;  // f64
  std::function<Bias(const Tensor&)> make;
};

/// loss = sum of d_out * out + sum of d_lse * lse, rows that see nothing left out of the second. All of it in f64.
struct RandomLoss {
  Tensor q;
  Tensor k;
  Tensor v;
  Tensor d_out;
  Tensor d_lse;
  std::vector<RandomTerm> terms;
  AttentionOptions rest;  // bias left out

  [[nodiscard]] AttentionOptions options() const;
  [[nodiscard]] AttentionResult forward() const { return attention(q, k, v, options()); }
  [[nodiscard]] AttentionGradients backward(const AttentionResult& result, const GradientWants& wants = {}) const;
  [[nodiscard]] double loss() const;
  /// The largest absolute sum of the loss's terms before anything cancels.
  [[nodiscard]] double size() const;
};

/// Drawn by RapidCheck: any mask, biases of every kind, softcap, dropout, sinks, scale, grouped heads, Dv != D.
[[nodiscard]] RandomLoss any_loss();
/// A ragged batch.
[[nodiscard]] RandomLoss any_ragged_loss();

/// Standard normal numbers drawn by RapidCheck's seed.
[[nodiscard]] Tensor any_normal(const Shape& shape);

}  // namespace qkv::testing_attention
