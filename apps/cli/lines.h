// Files of which each line is a text.
#pragma once

#include <string>
#include <vector>

namespace qkv::cli {

/// The lines of a file without their ends; empty ones are left out. Throws Error if it cannot be read, or has none.
[[nodiscard]] std::vector<std::string> lines_of(const std::string& path);

}  // namespace qkv::cli
