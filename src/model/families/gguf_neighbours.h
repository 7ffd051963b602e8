// Architectures of GGUF files that are not read, and those that they are most like.
#pragma once

#include <string>
#include <string_view>

namespace qkv::families {

/// "; llama is the nearest: this one's layers …", and whether a folder of it is read; "" of one that nobody knows.
[[nodiscard]] std::string gguf_neighbour_text(std::string_view architecture);

}  // namespace qkv::families
