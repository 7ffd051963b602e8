// Names of operations, for errors and traces.
#pragma once

#include <cstddef>
#include <string>

namespace qkv {

/// Names the operations of this thread while it lives. Scopes nest: "blocks.0" and then "attn" give "blocks.0.attn".
/// The layers of qkv/nn use the names of their parameters. A backward pass, and the second run of a checkpoint, have
/// the names of the forward pass.
class OperationScope {
 public:
  explicit OperationScope(const std::string& name);
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;
  ~OperationScope();

 private:
  std::size_t before_;
};

}  // namespace qkv
