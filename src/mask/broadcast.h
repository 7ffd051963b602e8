// A tensor read as if it had the axes [B, H, rows, columns], right-aligned; extents of 1 repeat.
#pragma once

#include <array>
#include <cstdint>

#include "qkv/mask.h"

namespace qkv::mask_detail {

class Broadcast {
 public:
  /// Throws InvalidArgument naming `function` and `argument` for more than four axes.
  Broadcast(std::string_view function, std::string_view argument, const Shape& shape);

  /// The index of the element in the dense tensor.
  [[nodiscard]] std::int64_t offset(std::int64_t b, std::int64_t h, std::int64_t row,
                                    std::int64_t column) const noexcept {
    return b * strides_[0] + h * strides_[1] + row * strides_[2] + column * strides_[3];
  }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::int64_t row_stride() const noexcept { return strides_[2]; }
  [[nodiscard]] std::int64_t column_stride() const noexcept { return strides_[3]; }

  /// Throws InvalidArgument unless each extent is 1 or that of `wanted`, [B, H, rows, columns].
  void require_fits(const Shape& wanted) const;

  [[nodiscard]] bool varies_by_batch() const noexcept { return strides_[0] != 0; }
  [[nodiscard]] bool varies_by_head() const noexcept { return strides_[1] != 0; }

 private:
  std::string function_;
  std::string argument_;
  Shape shape_;
  std::array<std::int64_t, 4> strides_{};
};

/// Throws InvalidArgument naming `function` and `argument` unless the flags are b8 or u8.
void require_flags(std::string_view function, std::string_view argument, const TensorView& flags);

/// A dense b8 copy; throws as require_flags().
[[nodiscard]] Tensor copied_flags(std::string_view function, std::string_view argument, const TensorView& flags);

}  // namespace qkv::mask_detail
