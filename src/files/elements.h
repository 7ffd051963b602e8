// Elements between files and tensors.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "qkv/tensor.h"

namespace qkv::files {

/// Bytes that `extents` elements of `bits_each` bits take. Empty if a number is beyond 2^63 - 1 on the way; extents of
/// 0 count as 1 there, so that every stride of the tensor can be formed too.
[[nodiscard]] std::optional<std::uint64_t> checked_bits(std::span<const std::int64_t> extents, std::uint64_t bits_each);

/// A dense tensor from row-major elements in the given byte order. `bytes` holds exactly as many as the shape needs.
/// Any nonzero byte of a boolean is true.
[[nodiscard]] Tensor tensor_from_bytes(std::span<const std::byte> bytes, DType dtype, const Shape& shape,
                                       std::endian order);

/// Appends the elements in row-major order, little-endian.
void append_elements(std::vector<std::byte>& bytes, const TensorView& view);

/// Appends text as it is.
void append_text(std::vector<std::byte>& bytes, std::string_view text);

}  // namespace qkv::files
