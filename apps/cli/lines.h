// Texts that come from the command line, from standard input, or from the lines of a file.
#pragma once

#include <optional>
#include <string>

#include "qkv/api/given_texts.h"

namespace qkv::cli {

/// The text itself, or that on standard input if it is "-", without the end of its last line. Throws Error for more
/// than 1 MiB of it, and as require_utf8().
[[nodiscard]] std::string text_or_input(const std::string& text);

/// What standard input has, where the file is "-".
void read_input(FileOfTexts& file);
/// The same, and text_or_input() where there is a text. Reads neither where both are there, which is refused.
void read_input(std::optional<std::string>& text, FileOfTexts& file);

/// The next line of standard input, without its end; nullopt behind the last. Throws as text_or_input().
[[nodiscard]] std::optional<std::string> line_of_input();

}  // namespace qkv::cli
