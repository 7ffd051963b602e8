// Texts that come from standard input.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "qkv/api/field.h"

namespace qkv::cli {

/// Where a text is "-", what standard input has, without the end of its last line; where a file of texts is, the path
/// of standard input. Throws Error for a text of more than 1 MiB, and as require_utf8().
void read_input(std::span<const FieldInfo> fields, FieldValues& values);

/// The next line of standard input, without its end; nullopt behind the last. Throws as read_input().
[[nodiscard]] std::optional<std::string> line_of_input();

}  // namespace qkv::cli
