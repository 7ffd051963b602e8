// What a forward pass keeps to be looked at, and what it changes on its way.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/autograd/variable.h"
#include "qkv/gradient_probe.h"
#include "qkv/probe.h"

namespace qkv {

namespace trace_detail {
struct Record;
}

/// Values of a forward pass by name, in the order in which they were computed:
///
///     Trace trace({"blocks.0.attn.*", "logits"});
///     model.forward(ids, {.trace = &trace});
///     Tensor q = trace["blocks.0.attn.q"];             // a value that ran
///     Tensor weights = trace["blocks.0.attn.weights"]; // T x T, made again when asked for
///     Probe probe = trace.probe("blocks.0.attn");      // any part of it, at any length
///
/// Names are those of the parameters: blocks.0.attn.q.weight makes blocks.0.attn.q. docs/trace.md lists them. In a
/// pattern `*` stands for any run of characters.
///
/// Keeping a value shares its memory. Of an attention q, k, v, out and lse are kept; its T x T matrices are never
/// stored. A second pass with the same trace replaces what the first has left. Where the pass is recorded and
/// backward() is called afterwards, gradients of what was kept are kept, too. One pass at a time.
class Trace {
 public:
  /// Keeps everything.
  Trace();
  /// Keeps the names that match one of `patterns`; none: nothing is kept, for a trace that only edits.
  explicit Trace(std::vector<std::string> patterns);
  Trace(std::initializer_list<std::string> patterns) : Trace(std::vector<std::string>(patterns)) {}

  using Edit = std::function<Variable(const Variable& value)>;
  /// Every value whose name matches `pattern` is replaced by what `edit` gives of it, which must have its shape and
  /// dtype; the pass throws InvalidArgument naming the value if it has not. Edits of one value run in the order in
  /// which they were added. What is kept is the edited value. Gradients flow through an edit made of operations of
  /// autograd.
  Trace& edit(std::string pattern, Edit edit);
  /// The T x T matrix of these query heads (none: of all), "<attention>.masked" before the softmax or
  /// "<attention>.weights" after it, [B, 1, Tq, Tk], one head at a time. These heads leave the fused path, for plain
  /// products in f32, or f64 of f64; learned biases get no gradient from them.
  Trace& edit_heads(std::string pattern, std::vector<std::int64_t> heads, Edit edit);
  /// In the backward pass: the gradient with respect to each value whose name matches.
  Trace& edit_gradient(std::string pattern, Edit edit);

  /// What was kept under this name, or a T x T matrix of an attention that was kept: "<attention>.<stage>" with the
  /// words of Stage, [B, Hq, Tq, Tk], computed and allocated at this call in the arithmetic of the pass. Throws
  /// InvalidArgument naming it and what there is.
  [[nodiscard]] Tensor operator[](std::string_view name) const;
  /// The gradient with respect to a value that was kept, after backward(). Throws InvalidArgument if there is none.
  [[nodiscard]] Tensor gradient(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const;
  /// Of the values that were kept; without the matrices.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Of the attentions that were kept.
  [[nodiscard]] std::vector<std::string> attentions() const;

  /// q, k, v, out and lse of an attention call, and its options.
  struct Attention {
    Variable q;    // [B, Hq, Tq, D], after rotation
    Variable k;    // [B, Hk, Tk, D]
    Variable v;    // [B, Hk, Tk, Dv]
    Variable out;  // [B, Hq, Tq, Dv]
    Variable lse;  // [B, Hq, Tq]
    AttentionOptions options;
  };
  [[nodiscard]] const Attention& attention(std::string_view name) const;
  /// A look at that very call; it must not outlive the trace. An edited head's matrix is that before the edit.
  [[nodiscard]] Probe probe(std::string_view name) const;
  /// Likewise of its backward pass, after backward().
  [[nodiscard]] GradientProbe gradient_probe(std::string_view name) const;

  /// For layers: what this trace holds.
  [[nodiscard]] const std::shared_ptr<trace_detail::Record>& record() const noexcept { return record_; }

 private:
  std::shared_ptr<trace_detail::Record> record_;
};

}  // namespace qkv
