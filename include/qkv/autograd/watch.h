// Where a computation first made a number that is none.
#pragma once

#include <optional>
#include <string>

namespace qkv {

/// While it lives, every result of an operation of its thread, and every gradient on the way back, is searched for NaN
/// and infinity. Slow: for a step that went wrong already, done again. One at a time in a thread.
class NonFiniteWatch {
 public:
  NonFiniteWatch();
  NonFiniteWatch(const NonFiniteWatch&) = delete;
  NonFiniteWatch& operator=(const NonFiniteWatch&) = delete;
  ~NonFiniteWatch();

  /// The first that was found: "the result of exp in blocks.0.attention, [2, 3]" or "a gradient that log in output
  /// passes back, [4]"; none where all numbers are finite.
  [[nodiscard]] const std::optional<std::string>& first() const noexcept { return first_; }

 private:
  friend struct WatchAccess;
  std::optional<std::string> first_;
};

}  // namespace qkv
