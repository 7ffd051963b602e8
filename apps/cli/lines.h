// Files of which each line is a text.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace qkv::cli {

/// TEXT, or the lines of --file where that is not empty. Throws what refuses none and both.
[[nodiscard]] std::vector<std::string> texts_from(const std::optional<std::string>& text, const std::string& file);

/// The lines of a file without their ends; empty ones are left out. Throws Error if it cannot be read, or has none.
[[nodiscard]] std::vector<std::string> lines_of(const std::string& path);

}  // namespace qkv::cli
