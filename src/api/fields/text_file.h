// A text that a model reads, from a file.
#pragma once

#include <string>

namespace qkv::api_detail {

/// Without the end of its last line, which is no part of the text. Throws Error for a file that cannot be read.
[[nodiscard]] std::string text_of_file(const std::string& path);

}  // namespace qkv::api_detail
