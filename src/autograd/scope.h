// The scope of the operations of a thread.
#pragma once

#include <string>

#include "qkv/autograd/scope.h"

namespace qkv::autograd {

/// The innermost scope of this thread; null outside of any.
[[nodiscard]] const OperationScope* innermost_scope() noexcept;

/// The names of the scopes of this thread within `outer`, with dots between them; of all of them where it is null.
[[nodiscard]] std::string operation_scope(const OperationScope* outer = nullptr);

/// While it lives, this is the whole scope of its thread. `scope` must live as long.
class RestoredScope {
 public:
  explicit RestoredScope(const std::string& scope) noexcept;
  RestoredScope(const RestoredScope&) = delete;
  RestoredScope& operator=(const RestoredScope&) = delete;
  ~RestoredScope();

 private:
  const OperationScope* before_;
  OperationScope whole_;
};

}  // namespace qkv::autograd
