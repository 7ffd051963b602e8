#include "nn/tracing.h"

#include <algorithm>
#include <utility>

#include "autograd/scope.h"
#include "nn/edited_heads.h"
#include "nn/trace_record.h"

namespace qkv::nn {
namespace {

using trace_detail::Record;

std::shared_ptr<Record>& current() {
  thread_local std::shared_ptr<Record> record;
  return record;
}

// Where the names of the current trace begin in the scope of the thread.
std::size_t& root() {
  thread_local std::size_t length = 0;
  return length;
}

std::string name_of_leaf(std::string_view leaf) {
  std::string name = autograd::operation_scope().substr(std::min(root(), autograd::operation_scope().size()));
  if (name.starts_with('.')) name.erase(0, 1);
  if (!leaf.empty()) name.append(name.empty() ? "" : ".").append(leaf);
  return name;
}

void require_like(const std::string& name, const Variable& before, const Variable& after) {
  if (!after.empty() && after.shape() == before.shape() && after.dtype() == before.dtype()) return;
  const auto text = [](const Variable& x) {
    return std::string(qkv::name_of(x.dtype())) + " " + x.shape().to_string();
  };
  throw InvalidArgument("Trace::edit", name, text(before), after.empty() ? "an empty variable" : text(after));
}

template <class List>
auto& place_of(List& list, const std::string& name) {
  const auto found = std::ranges::find(list, name, &List::value_type::name);
  if (found != list.end()) return *found;
  list.push_back({.name = name});
  return list.back();
}

void edit_gradient(const Record& record, const std::string& name, const Variable& x) {
  for (const trace_detail::ValueEdit& change : record.gradient_edits) {
    if (!trace_detail::matches(change.pattern, name)) continue;
    x.on_gradient([name, edit = change.edit](const Variable& gradient) {
      Variable edited = edit(gradient);
      require_like(name, gradient, edited);
      return edited;
    });
  }
}

bool has_gradient(const Variable& x) { return x.requires_gradient() && !x.is_leaf(); }

}  // namespace

Tracing::Tracing(const Trace* trace) : is_active_(trace != nullptr) {
  if (!is_active_) return;
  trace->record()->kept.clear();
  trace->record()->attentions.clear();
  before_ = std::exchange(current(), trace->record());
  root_before_ = std::exchange(root(), autograd::operation_scope().size());
}

Tracing::~Tracing() {
  if (!is_active_) return;
  current() = std::move(before_);
  root() = root_before_;
}

bool is_traced() noexcept { return current() != nullptr; }

Variable traced(std::string_view leaf, const Variable& x) {
  if (!is_traced()) return x;
  Record& record = *current();
  const std::string name = name_of_leaf(leaf);
  Variable value = x;
  for (const trace_detail::ValueEdit& change : record.edits) {
    if (!trace_detail::matches(change.pattern, name)) continue;
    Variable edited = change.edit(value);
    require_like(name, value, edited);
    value = std::move(edited);
  }
  if (has_gradient(value)) edit_gradient(record, name, value);
  if (!record.wants(name)) return value;
  trace_detail::Kept& kept = place_of(record.kept, name);
  kept.value = value.detach();
  kept.gradient = {};
  if (has_gradient(value)) {
    value.on_gradient([weak = std::weak_ptr(current()), name](const Variable& gradient) {
      if (const auto still = weak.lock()) place_of(still->kept, name).gradient = gradient.detach();
      return Variable();
    });
  }
  return value;
}

void trace_attention(Trace::Attention call) {
  if (!is_traced()) return;
  const std::string name = name_of_leaf("");
  if (!current()->wants_attention(name)) return;
  trace_detail::KeptAttention& kept = place_of(current()->attentions, name);
  kept = {.name = name, .call = std::move(call)};
}

AttentionRun traced_attention(const Variable& q, const Variable& k, const Variable& v, const AttentionOptions& options,
                              const LearnedTerms& learned) {
  AttentionRun run = attention_run(q, k, v, options, learned);
  if (!is_traced()) return run;
  const std::string name = name_of_leaf("");
  if (has_gradient(run.out) && current()->wants_attention(name)) {
    run.out.on_gradient([weak = std::weak_ptr(current()), name](const Variable& gradient) {
      if (const auto still = weak.lock()) place_of(still->attentions, name).d_out = gradient.detach();
      return Variable();
    });
  }
  trace_attention({.q = q.detach(),
                   .k = k.detach(),
                   .v = v.detach(),
                   .out = run.out.detach(),
                   .lse = run.lse,
                   .options = run.options});
  if (current()->edits_heads(name)) run.out = with_edited_heads(*current(), name, q, k, v, run);
  return run;
}

}  // namespace qkv::nn
