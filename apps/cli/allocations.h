// How many bytes the command holds: its operator new counts, and with it every tensor and container of the library.
#pragma once

#include <cstdint>

namespace qkv::cli {

/// The most bytes that were held at once since it was made, above those held then. What the C++ heap gave, as the
/// allocator rounds it; not the stack, code, or what a C library allocates for itself. One at a time.
class PeakMeter {
 public:
  PeakMeter() noexcept;
  [[nodiscard]] std::int64_t bytes() const noexcept;

 private:
  std::int64_t before_;
};

}  // namespace qkv::cli
