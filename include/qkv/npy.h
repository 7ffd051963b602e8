// NumPy's .npy: one array.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "qkv/tensor.h"

namespace qkv {

/// Reads .npy versions 1.0, 2.0 and 3.0, either byte order, C and Fortran order; the result is dense and row-major.
/// Element types f8 f4 f2 i8 i4 u1 b1; NumPy has no bf16, which goes by the bytes of `V2` here, as ml_dtypes writes it.
/// Errors call the bytes `source`. Throws Error for malformed, truncated or trailing bytes, and for a `descr` that qkv
/// has no type for. Allocates the tensor, never more than the bytes that are there. Format:
/// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
[[nodiscard]] Tensor decode_npy(std::span<const std::byte> bytes, std::string_view source = "npy");

/// Version 1.0, little-endian, C order, data aligned to 64 bytes. Any strides.
[[nodiscard]] std::vector<std::byte> encode_npy(const TensorView& view);

}  // namespace qkv
