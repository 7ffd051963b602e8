// Finds the operation that first gave a NaN or an infinity.
#pragma once

#include <optional>
#include <string>

namespace qkv {

/// While it lives, searches every result of an operation of its thread, and every gradient of a backward pass, for NaN
/// and infinity. Slow: for repeating a step that went wrong. One at a time per thread.
class NonFiniteWatch {
 public:
  NonFiniteWatch();
  NonFiniteWatch(const NonFiniteWatch&) = delete;
  NonFiniteWatch& operator=(const NonFiniteWatch&) = delete;
  ~NonFiniteWatch();

  /// The first one found: "the result of exp in blocks.0.attn, [2, 3]" or "a gradient that log in output passes back,
  /// [4]"; none if everything was finite.
  [[nodiscard]] const std::optional<std::string>& first() const noexcept { return first_; }

 private:
  friend struct WatchAccess;
  std::optional<std::string> first_;
};

}  // namespace qkv
