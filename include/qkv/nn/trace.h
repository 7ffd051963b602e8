// Intermediates of a forward pass by name: kept, probed or changed.
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
///     Variable logits = model.forward(ids, {.trace = &trace});
///     Tensor q = trace["blocks.0.attn.q"];             // a value that ran
///     Tensor weights = trace["blocks.0.attn.weights"]; // T x T, computed on demand
///     Probe probe = trace.probe("blocks.0.attn");      // any part of it, at any length
///
/// Names are those of the parameters: blocks.0.attn.q.weight makes blocks.0.attn.q. docs/trace.md lists them. In a
/// pattern `*` stands for any run of characters.
///
/// Keeping a value shares its memory. Of an attention q, k, v, out and lse are kept; its T x T matrices are never
/// stored. A second pass with the same trace replaces the values of the first. If the pass is recorded and
/// backward() is called afterwards, the gradients of kept values are kept too. One pass at a time.
class Trace {
 public:
  /// Keeps everything.
  Trace();
  /// Keeps the values whose names match one of `patterns`; without patterns none, for a trace that only edits.
  explicit Trace(std::vector<std::string> patterns);
  Trace(std::initializer_list<std::string> patterns) : Trace(std::vector<std::string>(patterns)) {}

  using Edit = std::function<Variable(const Variable& value)>;
  /// Replaces every value whose name matches `pattern` by edit(value), which must have the same shape and dtype; else
  /// the pass throws InvalidArgument naming the value. Edits of one value run in the order in which they were added.
  /// The trace keeps the edited value. Gradients flow through an edit made of autograd operations. Throws
  /// InvalidArgument for a matrix of heads, which edit_heads() takes; the pass throws for a pattern of this or the next
  /// two functions that met no value, so that no edit is lost in silence.
  Trace& edit(std::string pattern, Edit edit);
  /// Edits the T x T matrix of these query heads (none: all), "<attention>.masked" before the softmax or
  /// "<attention>.weights" after it, [B, 1, Tq, Tk], one head at a time. Edited heads are computed by plain products,
  /// in f64 for f64, else f32; learned biases get no gradient from them.
  Trace& edit_heads(std::string pattern, std::vector<std::int64_t> heads, Edit edit);
  /// Edits the gradient with respect to each value whose name matches, in the backward pass.
  Trace& edit_gradient(std::string pattern, Edit edit);

  /// The value kept under this name, or a T x T matrix of a kept attention: "<attention>.<stage>" with the
  /// words of Stage, [B, Hq, Tq, Tk], computed and allocated by this call, in f64 for f64, else f32. Throws
  /// InvalidArgument with the names that were kept.
  [[nodiscard]] Tensor operator[](std::string_view name) const;
  /// The gradient with respect to a value that was kept, after backward(). Throws InvalidArgument if there is none.
  [[nodiscard]] Tensor gradient(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const;
  /// The names of the kept values, without the matrices.
  [[nodiscard]] std::vector<std::string> names() const;
  /// The names of the kept attentions.
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
  /// A probe of that call; it must not outlive the trace. The matrix of an edited head is that before the edit.
  [[nodiscard]] Probe probe(std::string_view name) const;
  /// A probe of its backward pass, after backward().
  [[nodiscard]] GradientProbe gradient_probe(std::string_view name) const;

  /// For layers: the shared state.
  [[nodiscard]] const std::shared_ptr<trace_detail::Record>& record() const noexcept { return record_; }

 private:
  std::shared_ptr<trace_detail::Record> record_;
};

}  // namespace qkv
