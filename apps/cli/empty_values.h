// `--option=` with nothing behind it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli11_names.h"

namespace qkv::cli {

/// The words of a command line with an empty text behind each `--option=` of the command, for which CLI11 would take
/// the word that follows. Ends with Exit where such an option takes no value, or may stand alone.
[[nodiscard]] std::vector<std::string> with_empty_values(const CLI::App& command, std::span<char* const> words);

/// "qkv bench variants"
[[nodiscard]] std::string full_name(const CLI::App& command);

}  // namespace qkv::cli
