// The scope of the operations of a thread.
#pragma once

#include <string>

namespace qkv::autograd {

/// The names of the scopes of this thread with dots between them.
[[nodiscard]] const std::string& operation_scope();

/// While it lives, this is the whole scope of its thread.
class RestoredScope {
 public:
  explicit RestoredScope(std::string scope);
  RestoredScope(const RestoredScope&) = delete;
  RestoredScope& operator=(const RestoredScope&) = delete;
  ~RestoredScope();

 private:
  std::string before_;
};

}  // namespace qkv::autograd
