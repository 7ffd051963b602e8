#include "autograd/scope.h"

#include <utility>

namespace qkv {
namespace {

const OperationScope*& innermost() noexcept {
  thread_local const OperationScope* scope = nullptr;
  return scope;
}

void append_names(const OperationScope* scope, const OperationScope* outer, std::string& names) {
  if (scope == nullptr || scope == outer) return;
  append_names(scope->outer(), outer, names);
  if (!names.empty() && !scope->name().empty()) names += '.';
  names += scope->name();
}

}  // namespace

OperationScope::OperationScope(std::string_view name) noexcept
    : name_(name), outer_(std::exchange(innermost(), this)) {}

OperationScope::~OperationScope() { innermost() = outer_; }

namespace autograd {

const OperationScope* innermost_scope() noexcept { return innermost(); }

std::string operation_scope(const OperationScope* outer) {
  std::string names;
  append_names(innermost(), outer, names);
  return names;
}

RestoredScope::RestoredScope(const std::string& scope) noexcept
    : before_(std::exchange(innermost(), nullptr)), whole_(scope) {}

RestoredScope::~RestoredScope() { innermost() = before_; }

}  // namespace autograd
}  // namespace qkv
