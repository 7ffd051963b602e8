// Attention with gradients.
#pragma once

#include <variant>
#include <vector>

#include "qkv/attention.h"
#include "qkv/autograd/variable.h"

namespace qkv {

/// Biases with learned elements: those of bias.h, with variables in place of copies.
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

/// Learned inputs of attention() beside its options. Variables of any floating dtype.
struct LearnedTerms {
  std::vector<LearnedBias> bias = {};  // added to options.bias
  Variable sinks = {};                 // [Hq], replaces options.sinks; empty for none
};

/// The options with the current values of the learned terms. Throws InvalidArgument for a term that does not fit.
[[nodiscard]] AttentionOptions options_with(const AttentionOptions& options, const LearnedTerms& learned);

/// attention() of the engine with all its options:
/// q [B, Hq, Tq, D], k [B, Hk, Tk, D], v [B, Hk, Tk, Dv] of one dtype -> [B, Hq, Tq, Dv], laid out so that
/// merge_heads() shares it. Keeps q, k, v, the result and a number per query for attention_backward().
/// options.plan and options.scratch serve the forward call alone; options.plans serves the backward pass, too. Throws
/// as the engine does, naming attention, and for a learned term that does not fit.
[[nodiscard]] Variable attention(const Variable& q, const Variable& k, const Variable& v,
                                 const AttentionOptions& options = {}, const LearnedTerms& learned = {});

/// The same, with what a probe of the call needs: lse [B, Hq, Tq], f64 if q is, else f32, a constant; and the options
/// with the values of the learned terms, valid after the call.
struct AttentionRun {
  Variable out;
  Variable lse;
  AttentionOptions options;
};
[[nodiscard]] AttentionRun attention_run(const Variable& q, const Variable& k, const Variable& v,
                                         const AttentionOptions& options = {}, const LearnedTerms& learned = {});

}  // namespace qkv
