// PNG files as tensors.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "qkv/tensor.h"

namespace qkv {

/// The picture of a PNG file as u8 [H, W, 3]: red, green and blue of sRGB. Every kind of PNG is read: grey and palettes
/// become colours, 16 bits become 8, transparent pixels are blended with white, a gamma of the file's own becomes
/// sRGB's. Errors call the bytes `source`. Throws Error with libpng's reason for what is no PNG, truncated or damaged,
/// and for more than 2^26 pixels. Allocates the picture.
[[nodiscard]] Tensor decode_png(std::span<const std::byte> bytes, std::string_view source = "png");

/// A PNG file of u8 [H, W, 3], 8 bits a channel, sRGB. Any strides. Throws InvalidArgument naming picture.
[[nodiscard]] std::vector<std::byte> encode_png(const TensorView& picture);

}  // namespace qkv
