#include "nn/tracing.h"

#include <algorithm>
#include <utility>

#include "autograd/scope.h"
#include "nn/edited_heads.h"
#include "nn/resumed.h"
#include "nn/trace_record.h"

namespace qkv::nn {
namespace {

using trace_detail::Record;

std::shared_ptr<Record>& current() {
  thread_local std::shared_ptr<Record> record;
  return record;
}

// The scope in which the current trace began: its names are those within.
const OperationScope*& root() {
  thread_local const OperationScope* scope = nullptr;
  return scope;
}

std::string name_of_leaf(std::string_view leaf) {
  std::string name = autograd::operation_scope(root());
  if (!leaf.empty()) name.append(name.empty() ? "" : ".").append(leaf);
  return name;
}

const std::vector<Resumption>*& resumed_stacks() {
  thread_local const std::vector<Resumption>* stacks = nullptr;
  return stacks;
}

void require_like(const std::string& name, const Variable& before, const Variable& after) {
  if (!after.empty() && after.shape() == before.shape() && after.dtype() == before.dtype()) return;
  const auto text = [](const Variable& x) {
    return std::string(qkv::name_of(x.dtype())) + " " + x.shape().to_string();
  };
  throw InvalidArgument("Trace::edit", name, text(before), after.empty() ? "an empty variable" : text(after));
}

bool has_gradient(const Variable& x) { return x.requires_gradient() && !x.is_leaf(); }

void edit_gradient(Record& record, const std::string& name, const Variable& x) {
  for (trace_detail::ValueEdit& change : record.gradient_edits) {
    if (!trace_detail::matches(change.pattern, name)) continue;
    change.met = true;
    if (!has_gradient(x)) continue;
    x.on_gradient([name, edit = change.edit](const Variable& gradient) {
      Variable edited = edit(gradient);
      require_like(name, gradient, edited);
      return edited;
    });
  }
}

}  // namespace

Tracing::Tracing(const Trace* trace) : is_active_(trace != nullptr) {
  if (!is_active_) return;
  trace->record()->clear();
  before_ = std::exchange(current(), trace->record());
  root_before_ = std::exchange(root(), autograd::innermost_scope());
}

Tracing::~Tracing() {
  if (!is_active_) return;
  current() = std::move(before_);
  root() = root_before_;
}

Variable Tracing::result(Variable x) const {
  if (is_active_) current()->require_met();
  return x;
}

Resumed::Resumed(std::vector<Resumption> stacks)
    : stacks_(std::move(stacks)), before_(std::exchange(resumed_stacks(), &stacks_)) {}

Resumed::~Resumed() { resumed_stacks() = before_; }

const Resumption* resumption_of_scope() {
  if (resumed_stacks() == nullptr) return nullptr;
  const std::string scope = name_of_leaf("");
  const auto found = std::ranges::find(*resumed_stacks(), scope.empty() ? scope : scope + ".", &Resumption::stack);
  return found == resumed_stacks()->end() ? nullptr : &*found;
}

std::string name_of_scope() { return name_of_leaf(""); }

bool is_traced() noexcept { return current() != nullptr; }

bool is_named(std::string_view leaf) {
  if (!is_traced()) return false;
  const Record& record = *current();
  const std::string name = name_of_leaf(leaf);
  const auto means = [&](const std::string& pattern) {
    return std::string_view(pattern).ends_with(leaf) && trace_detail::matches(pattern, name);
  };
  return std::ranges::any_of(record.patterns, means) ||
         std::ranges::any_of(record.edits, means, &trace_detail::ValueEdit::pattern);
}

Variable traced(std::string_view leaf, Variable value) {
  if (!is_traced()) return value;
  Record& record = *current();
  const std::string name = name_of_leaf(leaf);
  for (trace_detail::ValueEdit& change : record.edits) {
    if (!trace_detail::matches(change.pattern, name)) continue;
    change.met = true;
    Variable edited = change.edit(value);
    require_like(name, value, edited);
    value = std::move(edited);
  }
  edit_gradient(record, name, value);
  if (!record.wants(name)) return value;
  trace_detail::Kept& kept = record.kept.place_of(name);
  kept.value = value.detach();
  kept.gradient = {};
  if (has_gradient(value)) {
    value.on_gradient([weak = std::weak_ptr(current()), name](const Variable& gradient) {
      if (const auto still = weak.lock()) still->kept.place_of(name).gradient = gradient.detach();
      return Variable();
    });
  }
  return value;
}

Variable traced_call(const Variable& q, const Variable& k, const Variable& v, const AttentionRun& run) {
  if (!is_traced()) return run.out;
  Record& record = *current();
  const std::string name = name_of_leaf("");
  if (record.wants_attention(name)) {
    record.attentions.place_of(name) = {.name = name,
                                        .call = {.q = q.detach(),
                                                 .k = k.detach(),
                                                 .v = v.detach(),
                                                 .out = run.out.detach(),
                                                 .lse = run.lse,
                                                 .options = run.options}};
  }
  return record.edits_heads(name) ? with_edited_heads(record, name, q, k, v, run) : run.out;
}

Variable traced_attention(const Variable& q, const Variable& k, const Variable& v, const AttentionOptions& options,
                          const LearnedTerms& learned) {
  const AttentionRun run = attention_run(q, k, v, options, learned);
  if (is_traced() && has_gradient(run.out)) {
    const std::string name = name_of_leaf("");
    if (current()->wants_attention(name)) {
      run.out.on_gradient([weak = std::weak_ptr(current()), name](const Variable& gradient) {
        if (const auto still = weak.lock()) still->attentions.place_of(name).d_out = gradient.detach();
        return Variable();
      });
    }
  }
  return traced_call(q, k, v, run);
}

}  // namespace qkv::nn
