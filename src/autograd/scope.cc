#include "autograd/scope.h"

#include <utility>

#include "qkv/autograd/scope.h"

namespace qkv {
namespace {

std::string& current_scope() {
  thread_local std::string scope;
  return scope;
}

}  // namespace

OperationScope::OperationScope(const std::string& name) : before_(current_scope().size()) {
  current_scope() += (before_ == 0 ? "" : ".") + name;
}

OperationScope::~OperationScope() { current_scope().resize(before_); }

namespace autograd {

const std::string& operation_scope() { return current_scope(); }

RestoredScope::RestoredScope(std::string scope) : before_(std::exchange(current_scope(), std::move(scope))) {}
RestoredScope::~RestoredScope() { current_scope() = std::move(before_); }

}  // namespace autograd
}  // namespace qkv
