// Rows of tensors as pieces of a share hold them, and as bytes of a message.
#pragma once

#include <cstddef>
#include <vector>

#include "qkv/cluster/shares.h"
#include "qkv/tensor.h"

namespace qkv::cluster {

/// The n-th of `count` equal stretches of T positions, in tiles of 64 where each has some.
[[nodiscard]] SharePiece stretch(std::int64_t T, std::int64_t count, std::int64_t n);

/// Without those that have no rows, and those of neighbouring positions that follow each other as one.
[[nodiscard]] std::vector<SharePiece> joined(std::vector<SharePiece> pieces);

/// The places of a piece along an axis.
[[nodiscard]] TensorView piece_of(const TensorView& x, int axis, const SharePiece& piece);
[[nodiscard]] MutableTensorView piece_of(const MutableTensorView& x, int axis, const SharePiece& piece);

/// Copies all elements; shapes and dtypes are the same.
void copy(const TensorView& from, const MutableTensorView& to);

/// Writes the elements in row-major order, and reads them. Return the first byte behind.
std::byte* pack(const TensorView& from, std::byte* to);
const std::byte* unpack(const std::byte* from, const MutableTensorView& to);

}  // namespace qkv::cluster
