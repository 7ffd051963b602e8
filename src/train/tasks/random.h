// Random choices of one example: a stream of Philox numbers that depends on nothing but where it starts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/philox.h"

namespace qkv::training {

/// Where a stream of choices starts. An example that falls into the other split is tried again.
struct RandomOrigin {
  std::uint64_t seed = 0;
  std::uint32_t task = 0;  // task_number() of its name
  std::uint32_t split = 0;
  std::int64_t n = 0;
  std::uint32_t attempt = 0;
};

/// FNV-1a of the name, folded to 16 bits.
[[nodiscard]] std::uint32_t task_number(std::string_view name) noexcept;

/// Philox4x32-10: key = seed, counter = (words drawn / 4 and the task in the upper half, attempt, n and, in its top
/// bit, the split).
class TaskRandom {
 public:
  explicit TaskRandom(const RandomOrigin& origin) noexcept;

  /// Uniform in [0, bound), bound > 0, without bias (Lemire 2019).
  std::uint32_t below(std::uint32_t bound) noexcept;
  /// Uniform in [low, high], both included.
  std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
    return low + below(static_cast<std::uint32_t>(high - low + 1));
  }
  /// True `percent` times of a hundred.
  bool percent(std::uint32_t percent) noexcept { return below(100) < percent; }

  template <class T>
  const T& pick(std::span<const T> choices) noexcept {
    return choices[below(static_cast<std::uint32_t>(choices.size()))];
  }
  template <class T>
  const T& pick(const std::vector<T>& choices) noexcept {
    return pick(std::span<const T>(choices));
  }
  /// Fisher and Yates.
  template <class T>
  void shuffle(std::vector<T>& values) noexcept {
    for (std::size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[below(static_cast<std::uint32_t>(i))]);
    }
  }

 private:
  std::uint32_t next() noexcept;

  core::PhiloxKey key_;
  core::PhiloxCounter counter_;
  core::PhiloxCounter block_{};
  unsigned used_ = 4;
};

}  // namespace qkv::training
