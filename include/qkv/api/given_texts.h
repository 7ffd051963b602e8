// Texts that a request gives: one, several, or those of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/api/field.h"

namespace qkv {

/// A file of texts, and where one ends.
struct FileOfTexts {
  std::string path = {};                                // empty: none
  bool is_whole = false;                                // the file is one text, its line ends with it
  std::optional<std::string> separator = std::nullopt;  // lines of this, and no others, stand between texts
};

/// `file`, of a file with a text on each line.
[[nodiscard]] Fields<FileOfTexts> line_file_field(const std::string& group = "");
/// That with `whole_file` and `separator`.
[[nodiscard]] Fields<FileOfTexts> file_fields();

/// `texts`: several, themselves.
[[nodiscard]] FieldInfo texts_field(const std::string& group = "");
/// `captions`, likewise, of pictures.
[[nodiscard]] FieldInfo captions_field(const std::string& group = "");

enum class EmptyLines : std::uint8_t { kept, left_out };

/// Texts, and of several where each stands.
struct Texts {
  std::vector<std::string> texts;
  std::string file = {};                       // empty where the request has the texts themselves
  std::string field = "file";                  // that gives them
  std::vector<std::size_t> line_numbers = {};  // of the texts of a file, from 1; in the field of several, from 0

  /// What an error about the argument "texts[3]" or "prompts[3]" names: "file: FILE, line 5", "texts[3]", or `text`;
  /// nullopt for any other argument.
  [[nodiscard]] std::optional<std::string> place_of(std::string_view argument) const;
  [[nodiscard]] auto places() const {
    return [this](std::string_view argument) { return place_of(argument); };
  }
};

/// The text, or where there is none those of the field `texts`, or where there are none those of the file. Throws as
/// texts_of().
[[nodiscard]] Texts given_texts(const std::optional<std::string>& text, const std::vector<std::string>& texts,
                                const FileOfTexts& file);

/// The texts of the file; `empty` is of one with a text on each line. Throws NotThere of the field `file` if it cannot
/// be read, is no UTF-8 or has no text.
[[nodiscard]] Texts texts_of(const FileOfTexts& file, EmptyLines empty = EmptyLines::kept);

}  // namespace qkv
