// Layers that learn. Each is made from the layer of the same name in qkv/nn, whose draws, options and refusals it has,
// and gives one back with frozen(), for the taps and for `qkv explain`.
//
// Parameters have the dtype of the layer they were made from. In f32 they serve x of f32 and, rounded on the way, of
// bf16 (mixed precision). Copying a layer copies handles: both copies learn together.
#pragma once

#include <optional>

#include "qkv/autograd/attention.h"
#include "qkv/layers/parameters.h"
#include "qkv/nn/embedding.h"
#include "qkv/nn/feed_forward.h"
#include "qkv/nn/linear.h"
#include "qkv/nn/multi_head_attention.h"
#include "qkv/nn/norm.h"

namespace qkv::learn {

/// x W^T + b of qkv::Linear: weight, bias.
class Linear {
 public:
  explicit Linear(const qkv::Linear& layer);
  Linear(const LinearOptions& options, Generator& generator) : Linear(qkv::Linear(options, generator)) {}

  [[nodiscard]] Variable forward(const Variable& x) const;
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] qkv::Linear frozen() const;

 private:
  Variable weight_;
  Variable bias_;  // empty where there is none
};

/// qkv::LayerNorm or qkv::RMSNorm over the last axis: weight and, of a layer norm, bias.
class Norm {
 public:
  /// Throws InvalidArgument naming normalized where it has more than one axis.
  explicit Norm(const qkv::Norm& norm);

  [[nodiscard]] Variable forward(const Variable& x) const;
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] qkv::Norm frozen() const;

 private:
  Variable weight_;
  Variable bias_;  // empty for an RMSNorm
  double epsilon_;
};

/// A vector for each token: weight [N, D].
class Embedding {
 public:
  explicit Embedding(const qkv::Embedding& layer);
  /// Normal with this standard deviation; 0.02 as in GPT-2, small enough for logits() to start near 0. Throws
  /// InvalidArgument as qkv::Embedding does.
  Embedding(std::int64_t count, std::int64_t width, Generator& generator, double deviation = 0.02,
            DType dtype = DType::f32);

  /// ids [...] -> [..., D] in `dtype`.
  [[nodiscard]] Variable forward(const TensorView& ids, DType dtype = DType::f32) const;
  /// x [..., D] against every row, [..., N]: the output map of a model that ties it to the input (Press and Wolf 2017).
  [[nodiscard]] Variable logits(const Variable& x) const;
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] qkv::Embedding frozen() const;
  /// Of the table, which is [N, D].
  [[nodiscard]] const Shape& shape() const { return weight_.shape(); }
  [[nodiscard]] DType dtype() const { return weight_.dtype(); }

 private:
  Variable weight_;
};

/// down(activation(up(x))) of qkv::FeedForward: up, down.
class FeedForward {
 public:
  explicit FeedForward(const qkv::FeedForward& layer);
  FeedForward(const FeedForwardOptions& options, Generator& generator)
      : FeedForward(qkv::FeedForward(options, generator)) {}

  [[nodiscard]] Variable forward(const Variable& x) const;
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] qkv::FeedForward frozen() const;

 private:
  Linear up_;
  Linear down_;
  Activation activation_;
};

struct MultiHeadCall {
  AttentionOptions attention = {};
  LearnedTerms learned = {};                           // biases and sinks that get gradients
  std::optional<TensorView> positions = std::nullopt;  // rotary: i64 [T] or [B, T]; 0 … T-1 where not given
};

/// qkv::MultiHeadAttention: q, k, v, out. Grouped heads, other head widths and rotary positions are its options; ALiBi
/// and T5 biases those of the call.
class MultiHeadAttention {
 public:
  explicit MultiHeadAttention(const qkv::MultiHeadAttention& layer);
  MultiHeadAttention(const MultiHeadOptions& options, Generator& generator, DType dtype = DType::f32)
      : MultiHeadAttention(qkv::MultiHeadAttention(options, generator, dtype)) {}

  /// Self-attention: x [B, T, d_model] -> the same. Throws InvalidArgument naming x, or as attention() does.
  [[nodiscard]] Variable forward(const Variable& x, const MultiHeadCall& call = {}) const;
  /// Keys and values from context [B, Tk, d_context]; without rotary positions.
  [[nodiscard]] Variable forward_cross(const Variable& x, const Variable& context,
                                       const MultiHeadCall& call = {}) const;
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] qkv::MultiHeadAttention frozen() const;
  [[nodiscard]] const MultiHeadOptions& options() const noexcept { return options_; }

 private:
  [[nodiscard]] Variable attend(const Variable& x, const Variable& context, const MultiHeadCall& call,
                                const std::optional<RotaryTables>& tables) const;

  MultiHeadOptions options_;
  Linear q_;
  Linear k_;
  Linear v_;
  Linear out_;
};

}  // namespace qkv::learn
