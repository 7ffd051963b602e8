// Bounds on what a template may do: it comes with a model from elsewhere, and may loop without an end.
#pragma once

#include <cstddef>
#include <stdexcept>

namespace qkv::text::jinja {

/// What is wrong with a template or its values; who knows the line makes an Error of it.
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Steps and bytes that are left. A step is about 0.1 µs; bytes are those of all texts and lists ever made.
class Budget {
 public:
  /// For a conversation of so many messages and bytes.
  Budget(std::size_t messages, std::size_t bytes);

  void step(std::size_t count = 1);
  /// For bytes that are read or made: a step for each 64.
  void read(std::size_t bytes) { step(1 + bytes / kBytesPerStep); }
  void make(std::size_t bytes);
  /// For looking for `part` bytes in `whole` bytes, each place of which may take them all.
  void search(std::size_t whole, std::size_t part) { step(1 + (whole / kBytesPerStep + 1) * (part + 1)); }

 private:
  static constexpr std::size_t kBytesPerStep = 64;
  std::size_t steps_;
  std::size_t bytes_;
};

/// Lists in lists, calls in calls, expressions in expressions: no deeper, so that no stack overflows.
inline constexpr std::size_t kDeepestValue = 64;
inline constexpr std::size_t kDeepestTree = 200;
inline constexpr std::size_t kDeepestCall = 250;

}  // namespace qkv::text::jinja
