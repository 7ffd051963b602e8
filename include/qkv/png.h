// PNG files as tensors.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "qkv/tensor.h"

namespace qkv {

/// The picture of a PNG file as u8 [H, W, 3]: red, green and blue. Every kind of PNG is read: grey and palettes become
/// colours, of 16 bits the upper 8 count. A pixel that is not opaque is mixed with white by the stored numbers, rounded
/// to the nearest: black of alpha 128 is 127. Gamma and colour profiles of the file change no number. These are the
/// pixels of Pillow and convert_to_rgb() of transformers, but for greys of 16 bits (white above 255 there) and
/// transparent greys of 2 and 4 bits and colours of 16 (opaque there, or by their upper bits).
///
/// Errors call the bytes `source`. Throws Error with libpng's reason for what is no PNG, truncated or damaged, and for
/// more than 2^26 pixels. Allocates the picture, and for one with alpha its four channels as well.
[[nodiscard]] Tensor decode_png(std::span<const std::byte> bytes, std::string_view source = "png");

/// A PNG file of u8 [H, W, 3], 8 bits a channel, sRGB. Any strides. Throws InvalidArgument naming picture.
[[nodiscard]] std::vector<std::byte> encode_png(const TensorView& picture);

}  // namespace qkv
