// Whole files: read at once, and written so that they appear whole or not at all.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/error.h"

namespace qkv {

/// Every byte of a file. Throws Error naming the path and the system's reason.
[[nodiscard]] std::vector<std::byte> read_file(const std::string& path);

/// Writes beside `path` under a temporary name, then renames: a reader sees the old file or the new one, never a part.
/// Throws Error naming the path and the system's reason; nothing is left behind then.
void write_file(const std::string& path, std::span<const std::byte> bytes);
void write_file(const std::string& path, std::string_view text);

}  // namespace qkv
