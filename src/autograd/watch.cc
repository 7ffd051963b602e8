#include "autograd/watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "autograd/scope.h"
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

std::string scope_text(const std::string& scope) { return scope.empty() ? "" : " in " + scope; }

void note(const std::string& text, const TensorView& values) {
  if (current_watch()->first() || autograd::is_finite(values)) return;
  WatchAccess::note(*current_watch(), text + ", " + values.shape().to_string());
}

}  // namespace

NonFiniteWatch::NonFiniteWatch() { current_watch() = this; }
NonFiniteWatch::~NonFiniteWatch() { current_watch() = nullptr; }

namespace autograd {

bool is_watched() noexcept { return current_watch() != nullptr; }

bool is_finite(const TensorView& values) {
  return std::ranges::all_of(values.to_vector(), [](double value) { return std::isfinite(value); });
}

void watch_result(std::string_view operation, const Value& result) {
  note("the result of " + std::string(operation) + scope_text(operation_scope()), result.view);
}

void watch_gradient(std::string_view operation, const std::string& scope, const Value& gradient) {
  note("a gradient that " + std::string(operation) + scope_text(scope) + " passes back", gradient.view);
}

}  // namespace autograd
}  // namespace qkv
