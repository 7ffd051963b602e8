// Counts the bytes that the whole program holds by new, the library included.
#pragma once

#include <cstddef>

namespace qkv::testing_insight {

[[nodiscard]] std::size_t held_bytes();
/// The most since the last begin_counting().
[[nodiscard]] std::size_t peak_bytes();
void begin_counting();

/// How much the program held at most while this ran, beyond what it held before.
template <class Run>
[[nodiscard]] std::size_t most_bytes(const Run& run) {
  begin_counting();
  const std::size_t before = held_bytes();
  run();
  return peak_bytes() - before;
}

}  // namespace qkv::testing_insight
