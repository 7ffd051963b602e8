// The memory of a fused call: its segments, and scratch behind them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/bytes.h"
#include "qkv/error.h"

namespace qkv {

/// Segments in the caller's scratch if that has room for them, else in memory of its own.
template <class Segment>
class CallMemory {
  static_assert(std::is_trivially_destructible_v<Segment>, "segments lie in scratch");

 public:
  CallMemory(std::span<std::byte> given, std::size_t count)
      : given_(given), segment_bytes_(core::aligned_bytes(count * sizeof(Segment))) {
    if (given.size() >= segment_bytes_ + core::kAlignment) {
      auto* first = reinterpret_cast<Segment*>(core::aligned(given).data());
      std::uninitialized_value_construct_n(first, count);
      segments_ = {first, count};
    } else {
      own_segments_.resize(count);
      segments_ = own_segments_;
    }
  }
  CallMemory(const CallMemory&) = delete;
  CallMemory& operator=(const CallMemory&) = delete;

  [[nodiscard]] std::span<Segment> segments() const { return segments_; }

  /// What the caller's scratch must have for the segments and `bytes` behind them, at any alignment.
  [[nodiscard]] std::size_t needed(std::string_view function, std::size_t bytes) const {
    return core::checked_sum(function, {segment_bytes_, bytes, core::kAlignment});
  }

  /// Aligned bytes behind the segments. Throws InvalidArgument naming `function` and scratch if the caller's are too
  /// few.
  [[nodiscard]] std::byte* behind(std::string_view function, std::size_t bytes) {
    const std::size_t all = needed(function, bytes);
    if (given_.empty()) {
      own_bytes_.reset(new std::byte[bytes + core::kAlignment]);
      return core::aligned({own_bytes_.get(), bytes + core::kAlignment}).data();
    }
    if (given_.size() >= all) return core::aligned(given_).data() + segment_bytes_;
    throw InvalidArgument(function, "scratch", std::to_string(all) + " bytes or more", std::to_string(given_.size()));
  }

 private:
  std::span<std::byte> given_;
  std::size_t segment_bytes_;
  std::span<Segment> segments_;
  std::vector<Segment> own_segments_;
  std::unique_ptr<std::byte[]> own_bytes_;  // NOLINT: left uninitialised
};

}  // namespace qkv
