// Texts that come from the command line, from standard input, or from the lines of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::cli {

/// The text itself, or that on standard input if it is "-", without the end of its last line. Throws Error for more
/// than 1 MiB of it.
[[nodiscard]] std::string text_or_input(const std::string& text);

enum class EmptyLines : std::uint8_t { kept, left_out };

/// Texts, and of those of a file where each stands.
struct Texts {
  std::vector<std::string> texts;
  std::string file = {};                       // empty for the TEXT of a command line
  std::vector<std::size_t> line_numbers = {};  // of the texts of a file, from 1

  /// What stands in a message for an argument "texts[3]" or "prompts[3]": "FILE, line 5", or "TEXT"; nullopt for any
  /// other argument.
  [[nodiscard]] std::optional<std::string> place_of(std::string_view argument) const;
};

/// TEXT as text_or_input() has it, or all lines of --file where that is not empty. Throws what refuses none and both.
[[nodiscard]] Texts texts_from(const std::optional<std::string>& text, const std::string& file);

/// The lines of a file, or of standard input for "-", without their ends. Throws Error if it cannot be read, or has
/// none.
[[nodiscard]] Texts lines_of(const std::string& path, EmptyLines empty);

}  // namespace qkv::cli
