#include "qkv/api/given_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "api/fields/refuse.h"
#include "core/number_text.h"
#include "files/place.h"
#include "files/reading.h"

namespace qkv {
namespace {

// Each line of a content is a text.
Texts lines_in(std::string_view rest, Texts lines, EmptyLines empty) {
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() && empty == EmptyLines::left_out) continue;
    lines.texts.emplace_back(line);
    lines.line_numbers.push_back(number);
  }
  if (lines.texts.empty()) throw FileError(lines.file, "expected a text on each line, got none");
  return lines;
}

// Lines of the separator alone end a text.
Texts parted(std::string_view whole, std::string_view separator, Texts texts) {
  std::string text;
  std::size_t begin = 1;
  const auto add = [&] {
    if (text.ends_with('\n')) text.resize(text.size() - (text.ends_with("\r\n") ? 2 : 1));
    texts.texts.push_back(std::exchange(text, {}));
    texts.line_numbers.push_back(begin);
  };
  std::size_t number = 1;
  for (std::string_view rest = whole; !rest.empty(); ++number) {
    const std::string_view with_end = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
    rest.remove_prefix(with_end.size());
    std::string_view line = with_end;
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line != separator) {
      text += with_end;
      continue;
    }
    add();
    begin = number + 1;
  }
  if (!text.empty()) add();  // a last separator ends the last text
  if (texts.texts.empty()) throw FileError(texts.file, "expected a text, got an empty file");
  return texts;
}

Texts read_texts(const FileOfTexts& file, EmptyLines empty) {
  const std::string whole = files::read_text(file.path);
  Texts texts{.texts = {}, .file = files::shown_path(file.path)};
  if (!file.is_whole && file.separator) return parted(whole, *file.separator, std::move(texts));
  if (!file.is_whole) return lines_in(whole, std::move(texts), empty);
  texts.texts.emplace_back(whole);
  texts.line_numbers.push_back(1);
  return texts;
}

}  // namespace

Fields<FileOfTexts> line_file_field(const std::string& group) {
  Fields<FileOfTexts> fields;
  fields.add(&FileOfTexts::path, {.name = "file",
                                  .form = "FILE",
                                  .meaning = "A text on each line of a file",
                                  .group = group,
                                  .is_text = true,
                                  .example = "texts.txt"});
  return fields;
}

Fields<FileOfTexts> file_fields() {
  Fields<FileOfTexts> fields = line_file_field();
  fields.add(&FileOfTexts::is_whole,
             {.name = "whole_file", .meaning = "The file is one text, all of its lines", .needs = {"file"}});
  fields.add(&FileOfTexts::separator, {.name = "separator",
                                       .form = "TEXT",
                                       .meaning = "Lines of this alone stand between the texts of the file",
                                       .needs = {"file"},
                                       .may_be_empty = true});
  fields.exclude({"separator"}, {"whole_file"}, "the file is one text");
  fields.give_examples({{"separator", "---"}});
  return fields;
}

std::optional<std::string> Texts::place_of(std::string_view argument) const {
  const std::size_t bracket = argument.find('[');
  const bool is_text = argument.starts_with("texts[") || argument.starts_with("prompts[");
  if (!is_text || !argument.ends_with(']')) return std::nullopt;
  if (file.empty() && line_numbers.empty()) return "text";
  const auto n = core::number_from<std::size_t>(argument.substr(bracket + 1, argument.size() - bracket - 2));
  const bool is_placed = n && *n < line_numbers.size();
  if (file.empty()) return is_placed ? fmt::format("{}[{}]", field, line_numbers[*n]) : field;
  if (!is_placed) return fmt::format("{}: {}", field, file);
  return fmt::format("{}: {}, line {}", field, file, line_numbers[*n]);
}

FieldInfo texts_field(const std::string& group) {
  return {.name = "texts",
          .form = "TEXT",
          .meaning = "A text itself",
          .group = group,
          .option = "line",
          .example = "abcxyzab"};
}

FieldInfo captions_field(const std::string& group) {
  return {.name = "captions",
          .form = "TEXT",
          .meaning = "A caption to hold pictures against, whatever it looks like",
          .group = group,
          .option = "caption",
          .example = "a red circle"};
}

Texts given_texts(const std::optional<std::string>& text, const std::vector<std::string>& texts,
                  const FileOfTexts& file) {
  if (text) return {.texts = {*text}};
  if (texts.empty()) return texts_of(file);
  Texts several{.texts = texts, .file = {}, .field = "texts", .line_numbers = std::vector<std::size_t>(texts.size())};
  std::iota(several.line_numbers.begin(), several.line_numbers.end(), std::size_t{0});
  return several;
}

Texts texts_of(const FileOfTexts& file, EmptyLines empty) {
  return api_detail::of_path("file", [&] { return read_texts(file, empty); });
}

}  // namespace qkv
