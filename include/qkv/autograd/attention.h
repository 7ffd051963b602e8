// Attention with gradients, and rotary positions.
#pragma once

#include <variant>
#include <vector>

#include "qkv/attention.h"
#include "qkv/autograd/variable.h"
#include "qkv/nn/position.h"

namespace qkv {

/// Biases whose numbers are learned: those of bias.h, of variables in place of copies.
struct LearnedDenseBias {
  Variable values;  // broadcasts to [B, H, Tq, Tk]
};
struct LearnedT5Bias {
  Variable table;  // [buckets, H]
  T5Buckets buckets = {};
  Align align = Align::bottom_right;
};
struct LearnedAlibi {
  Variable slopes;  // [H]
  Align align = Align::bottom_right;
};
using LearnedBias = std::variant<LearnedDenseBias, LearnedT5Bias, LearnedAlibi>;

/// What attention() adds to its options and gives gradients to. Any floating dtype of a variable.
struct LearnedTerms {
  std::vector<LearnedBias> bias = {};  // added to options.bias
  Variable sinks = {};                 // [Hq], in place of options.sinks; empty for none
};

/// attention() of the engine with every option of it: q [B, Hq, Tq, D], k [B, Hk, Tk, D], v [B, Hk, Tk, Dv] of one
/// dtype
/// -> [B, Hq, Tq, Dv], which lies so that merge_heads() shares it. Keeps q, k, v, the result and a number a query; the
/// walk back calls attention_backward(). options.plan and options.scratch serve the forward call alone. Throws as the
/// engine does, naming attention, and for a learned term that does not fit.
[[nodiscard]] Variable attention(const Variable& q, const Variable& k, const Variable& v,
                                 const AttentionOptions& options = {}, const LearnedTerms& learned = {});

/// apply_rotary() of position.h with its gradient, the turn back. x [B, H, T, D]; the result lies so that merge_heads()
/// shares it. f32, bf16 and f16 in f32. Throws InvalidArgument naming x, cos or sin.
[[nodiscard]] Variable rotary(const Variable& x, const RotaryTables& tables);

}  // namespace qkv
