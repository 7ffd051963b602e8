// Tensors whose last stride is 1, as kernels read them.
#pragma once

#include <cstddef>

#include "qkv/tensor.h"

namespace qkv {

/// Bytes that with_rows() writes: 0 for a view [B, H, T, D] whose last stride is 1.
[[nodiscard]] std::size_t bytes_of_rows(const TensorView& view);

/// The view itself if its last stride is 1, else a dense copy at `place`, which is aligned for the dtype.
[[nodiscard]] TensorView with_rows(const TensorView& view, std::byte* place);

}  // namespace qkv
