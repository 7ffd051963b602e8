// Names of operations, for errors and traces.
#pragma once

#include <string>
#include <string_view>

namespace qkv {

/// Names the operations of this thread while it lives. Scopes nest: "blocks.0" and then "attn" give "blocks.0.attn".
/// The layers of qkv/nn use the names of their parameters. A backward pass, and the second run of a checkpoint, have
/// the names of the forward pass. Allocates nothing: the names are put together where one is wanted, so `name` must
/// live as long as the scope.
class OperationScope {
 public:
  explicit OperationScope(std::string_view name) noexcept;
  explicit OperationScope(const char* name) noexcept : OperationScope(std::string_view(name)) {}
  explicit OperationScope(std::string&& name) = delete;
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;
  ~OperationScope();

  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  /// Null: this is the outermost.
  [[nodiscard]] const OperationScope* outer() const noexcept { return outer_; }

 private:
  std::string_view name_;
  const OperationScope* outer_;
};

}  // namespace qkv
