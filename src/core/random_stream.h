// mt19937 and the two draws that the other distributions are made of.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <random>
#include <type_traits>

#include "core/exact_math.h"

namespace qkv::core {

class RandomStream {
 public:
  /// PyTorch seeds its mt19937 with the low 32 bits.
  explicit RandomStream(std::uint64_t seed) : engine_(static_cast<std::uint32_t>(seed)) {}

  std::uint32_t next_32() { return static_cast<std::uint32_t>(engine_()); }
  std::uint64_t next_64() {
    const std::uint64_t high = next_32();
    return (high << 32U) | next_32();
  }

  /// On [0, 1), with as many random bits as T's significand has.
  template <std::floating_point T>
  T uniform() {
    constexpr std::uint64_t kOne = std::uint64_t{1} << static_cast<unsigned>(std::numeric_limits<T>::digits);
    const std::uint64_t word = std::is_same_v<T, double> ? next_64() : next_32();
    return static_cast<T>(word & (kOne - 1)) / static_cast<T>(kOne);
  }

  /// Box and Muller (1958) in double. The second number of a pair waits for the next call, whatever dtype that has.
  double normal() {
    if (waiting_) {
      const double second = *waiting_;
      waiting_.reset();
      return second;
    }
    const double angle = 2.0 * std::numbers::pi * uniform<double>();
    const double radius = std::sqrt(-2.0 * core::log1p(-uniform<double>()));
    waiting_ = radius * core::sin(angle);
    return radius * core::cos(angle);
  }

 private:
  std::mt19937 engine_;
  std::optional<double> waiting_;
};

}  // namespace qkv::core
