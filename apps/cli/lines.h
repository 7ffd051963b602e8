// Texts that come from the command line, from standard input, or from the lines of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/api/field.h"

namespace qkv::cli {

/// The text itself, or that on standard input if it is "-", without the end of its last line. Throws Error for more
/// than 1 MiB of it, and as require_utf8().
[[nodiscard]] std::string text_or_input(const std::string& text);

/// The next line of standard input, without its end; nullopt behind the last. Throws as text_or_input().
[[nodiscard]] std::optional<std::string> line_of_input();

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

/// A file of texts, and where one ends.
struct FileOfTexts {
  std::string path = {};                                // "-" is standard input; empty: none
  bool is_whole = false;                                // the file is one text, its line ends with it
  std::optional<std::string> separator = std::nullopt;  // lines of this, and no others, stand between texts
};

/// --file with `meaning`, --whole-file and --separator.
[[nodiscard]] Fields<FileOfTexts> file_fields(const std::string& meaning);

/// TEXT as text_or_input() has it, or the texts of --file where there is one. Throws what refuses none and both.
[[nodiscard]] Texts texts_from(const std::optional<std::string>& text, const FileOfTexts& file);

/// The texts of a file. Throws Error if it cannot be read, has none, and as require_utf8().
[[nodiscard]] Texts texts_of(const FileOfTexts& file);

/// The lines of a file, or of standard input for "-", without their ends. Throws Error if it cannot be read, or has
/// none.
[[nodiscard]] Texts lines_of(const std::string& path, EmptyLines empty);

}  // namespace qkv::cli
