// Tensors whose last stride is 1, as kernels read them.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "qkv/tensor.h"

namespace qkv {

/// Bytes that with_rows() writes: 0 for a view [B, H, T, D] whose last stride is 1.
[[nodiscard]] std::size_t bytes_of_rows(const TensorView& view);

/// The view itself if its last stride is 1, else a dense copy at `place`, which is aligned for the dtype.
[[nodiscard]] TensorView with_rows(const TensorView& view, std::byte* place);

/// Bytes of the copies of several views, each a whole number of lines.
[[nodiscard]] std::size_t bytes_of_rows(std::initializer_list<const TensorView*> views);

/// Replaces those views that need it by copies, one after the other from `place` on, which it moves behind them. False
/// if none needs it.
bool copy_rows(std::initializer_list<TensorView*> views, std::byte*& place);

}  // namespace qkv
