// Pictures and sounds that a request has: files, their bytes, or numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "qkv/tensor.h"
#include "qkv/wav.h"

namespace qkv::api_detail {

/// u8 [height, width, 3] of a PNG file, of "data:image/png;base64,…", or of numbers in brackets from 0 to 255. Throws
/// NotThere of the field for a file that cannot be read, Error for what is no PNG, and InvalidArgument naming the field
/// for other numbers and beyond the bounds of this thread's answers.
[[nodiscard]] Tensor picture_in(std::string_view field, const std::string& text);

/// Likewise of a WAV file, of "data:audio/wav;base64,…", or of numbers in brackets, which are samples at `rate`.
[[nodiscard]] Sound sound_in(std::string_view field, const std::string& text, std::int64_t rate);

/// Whether a text of a field that takes a file is a path, and no data or what stands in brackets.
[[nodiscard]] bool names_file(std::string_view text);

/// What a reply calls it: the path, or what stands in its place.
[[nodiscard]] std::string media_name(const std::string& text);

}  // namespace qkv::api_detail
