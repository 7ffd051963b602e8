// What on a command line is a picture, and what a text.
#pragma once

#include <string>

namespace qkv::cli {

/// What ends as the files of pictures do, or is a file.
[[nodiscard]] bool is_picture(const std::string& word);

}  // namespace qkv::cli
