// Flags of a tensor, one bit each, each row from a word on.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mask/broadcast.h"

namespace qkv::mask_detail {

/// Right-aligned to [B, H, rows, columns] as Broadcast is; an extent of 1 repeats.
class PackedFlags {
 public:
  /// Throws InvalidArgument naming `function` and `argument` as Broadcast and require_flags() do.
  PackedFlags(std::string_view function, std::string_view argument, const TensorView& flags);

  /// One column that stands for all.
  [[nodiscard]] bool repeats_columns() const noexcept { return columns_ == 1; }
  /// Bit c is the flag of column `first` + c, 1 <= count <= 64.
  [[nodiscard]] std::uint64_t bits(std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t first,
                                   int count) const noexcept;
  /// The flags as they came, b8 [shape].
  [[nodiscard]] Tensor unpacked() const;
  [[nodiscard]] const Broadcast& layout() const noexcept { return layout_; }

 private:
  Broadcast layout_;
  std::int64_t columns_ = 1;
  std::int64_t words_per_row_ = 1;
  std::vector<std::uint64_t> words_;  // and one behind the last, so that two can be read at any place
};

}  // namespace qkv::mask_detail
