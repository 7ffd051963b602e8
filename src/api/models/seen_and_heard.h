// Pictures and sounds that a request names.
#pragma once

#include <string>
#include <string_view>

#include "qkv/tensor.h"
#include "qkv/wav.h"

namespace qkv::api_detail {

/// A PNG, u8 [height, width, 3]. Throws NotThere of the field for what cannot be read or is none.
[[nodiscard]] Tensor picture_at(std::string_view field, const std::string& path);

/// A WAV file. Likewise.
[[nodiscard]] Sound sound_at(std::string_view field, const std::string& path);

}  // namespace qkv::api_detail
