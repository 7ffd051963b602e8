#include "autograd/watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "qkv/autograd/watch.h"

namespace qkv {

struct WatchAccess {
  static void note(NonFiniteWatch& watch, std::string text) { watch.first_ = std::move(text); }
};

namespace {

NonFiniteWatch*& current_watch() {
  thread_local NonFiniteWatch* watch = nullptr;
  return watch;
}

std::string& current_scope() {
  thread_local std::string scope;
  return scope;
}

std::string scope_text(const std::string& scope) { return scope.empty() ? "" : " in " + scope; }

void note(const std::string& text, const TensorView& values) {
  if (current_watch()->first() || autograd::is_finite(values)) return;
  WatchAccess::note(*current_watch(), text + ", " + values.shape().to_string());
}

}  // namespace

OperationScope::OperationScope(const std::string& name) : before_(current_scope().size()) {
  current_scope() += (before_ == 0 ? "" : ".") + name;
}

OperationScope::~OperationScope() { current_scope().resize(before_); }

NonFiniteWatch::NonFiniteWatch() { current_watch() = this; }
NonFiniteWatch::~NonFiniteWatch() { current_watch() = nullptr; }

namespace autograd {

bool is_watched() noexcept { return current_watch() != nullptr; }

bool is_finite(const TensorView& values) {
  return std::ranges::all_of(values.to_vector(), [](double value) { return std::isfinite(value); });
}

void watch_result(std::string_view operation, const Value& result) {
  note("the result of " + std::string(operation) + scope_text(current_scope()), result.view);
}

void watch_gradient(std::string_view operation, const std::string& scope, const Value& gradient) {
  note("a gradient that " + std::string(operation) + scope_text(scope) + " passes back", gradient.view);
}

const std::string& operation_scope() { return current_scope(); }

RestoredScope::RestoredScope(std::string scope) : before_(std::exchange(current_scope(), std::move(scope))) {}
RestoredScope::~RestoredScope() { current_scope() = std::move(before_); }

}  // namespace autograd
}  // namespace qkv
