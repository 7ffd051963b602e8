// How a layer names what it computes, and shows it to the trace of its thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "qkv/autograd/attention.h"
#include "qkv/autograd/scope.h"
#include "qkv/nn/trace.h"

namespace qkv::nn {

/// While it lives, values of its thread go to this trace, named from here on. Null: to the one that they went to.
class Tracing {
 public:
  explicit Tracing(const Trace* trace);
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;
  ~Tracing();

  /// The result of the pass. Throws InvalidArgument naming an edit that met no value of it.
  [[nodiscard]] Variable result(Variable x) const;

 private:
  std::shared_ptr<trace_detail::Record> before_;
  const OperationScope* root_before_ = nullptr;
  bool is_active_;
};

[[nodiscard]] bool is_traced() noexcept;

/// The current scope as the trace of its thread names it.
[[nodiscard]] std::string name_of_scope();

/// Whether a pattern of the trace that ends in this leaf, not in `*`, means the value `leaf` of the current scope: for
/// values that are computed only where they are asked for.
[[nodiscard]] bool is_named(std::string_view leaf);

/// `x`, or what the trace makes of it, as the value `leaf` of the current scope; the scope's own with an empty leaf.
[[nodiscard]] Variable traced(std::string_view leaf, Variable x);

/// The result of attention_run() as the attention of the current scope, kept for a probe, with edits of its heads.
[[nodiscard]] Variable traced_attention(const Variable& q, const Variable& k, const Variable& v,
                                        const AttentionOptions& options, const LearnedTerms& learned);
/// The result of a call that ran by itself, kept as the attention of the current scope, with edits of its heads.
[[nodiscard]] Variable traced_call(const Variable& q, const Variable& k, const Variable& v, const AttentionRun& run);

/// What `body` gives, its operations under `name`, and the value itself traced under that name.
template <class Body>
[[nodiscard]] Variable named(std::string_view name, const Body& body) {
  const OperationScope scope(name);
  return traced("", body());
}

}  // namespace qkv::nn
