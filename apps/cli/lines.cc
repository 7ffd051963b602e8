#include "lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "misuse.h"
#include "qkv/error.h"
#include "qkv/files.h"
#include "qkv/number_text.h"
#include "qkv/text/read_tokenizer.h"

namespace qkv::cli {
namespace {

constexpr const char* kInput = "-";
constexpr std::size_t kMostText = std::size_t{1} << 20;   // kExplainTokens words of 256 bytes
constexpr std::size_t kMostLines = std::size_t{1} << 30;  // of texts on standard input

// Of standard input no more than `most` bytes and one.
std::string standard_input(std::size_t most) {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  std::string text;
  for (std::size_t got = kBlock; got == kBlock && text.size() <= most;) {
    const std::size_t before = text.size();
    text.resize(before + kBlock);
    got = std::fread(text.data() + before, 1, kBlock, stdin);
    text.resize(before + got);
  }
  if (std::ferror(stdin) != 0) throw Error("cannot read standard input");
  return text;
}

[[noreturn]] void refuse_more_input(std::size_t most) {
  throw Error(fmt::format("standard input: expected a text of at most {} bytes, got more", most));
}

std::string bounded_input(std::size_t most) {
  std::string read = standard_input(most);
  if (read.size() > most) refuse_more_input(most);
  return read;
}

std::string name_of_file(const std::string& path) { return path == kInput ? "standard input" : path; }

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
  if (lines.texts.empty()) throw Error(lines.file + ": expected a text on each line, got none");
  return lines;
}

std::string content_of(const std::string& path) {
  if (path == kInput) return bounded_input(kMostLines);
  const std::vector<std::byte> bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::optional<std::string> line_of_input() {
  std::string line;
  int byte = std::getc(stdin);
  for (; byte != EOF && byte != '\n'; byte = std::getc(stdin)) {
    line += static_cast<char>(byte);
    if (line.size() > kMostText) refuse_more_input(kMostText);
  }
  if (std::ferror(stdin) != 0) throw Error("cannot read standard input");
  if (byte == EOF && line.empty()) return std::nullopt;
  if (line.ends_with('\r')) line.pop_back();
  return std::string(require_utf8(line, "standard input"));
}

std::string text_or_input(const std::string& text) {
  if (text != kInput) return text;
  const std::string read = bounded_input(kMostText);
  std::string_view valid = require_utf8(read, "standard input");
  if (valid.ends_with('\n')) valid.remove_suffix(valid.ends_with("\r\n") ? 2 : 1);
  return std::string(valid);
}

Fields<FileOfTexts> file_fields(const std::string& meaning) {
  Fields<FileOfTexts> fields;
  fields.add(&FileOfTexts::path, {.name = "file", .form = "FILE", .meaning = meaning});
  fields.add(&FileOfTexts::is_whole,
             {.name = "whole_file", .meaning = "The file is one text, all of its lines", .needs = {"file"}});
  fields.add(&FileOfTexts::separator, {.name = "separator",
                                       .form = "TEXT",
                                       .meaning = "Lines of this alone stand between the texts of the file",
                                       .needs = {"file"},
                                       .excludes = {"whole_file"}});
  fields.give_examples({{"file", "texts.txt"}, {"separator", "---"}});
  return fields;
}

std::optional<std::string> Texts::place_of(std::string_view argument) const {
  const std::size_t bracket = argument.find('[');
  const bool is_text = argument.starts_with("texts[") || argument.starts_with("prompts[");
  if (!is_text || !argument.ends_with(']')) return std::nullopt;
  if (file.empty()) return "TEXT";
  const auto n = number_from<std::size_t>(argument.substr(bracket + 1, argument.size() - bracket - 2));
  if (!n || *n >= line_numbers.size()) return file;
  return fmt::format("{}, line {}", file, line_numbers[*n]);
}

Texts texts_from(const std::optional<std::string>& text, const FileOfTexts& file) {
  if (text.has_value() != file.path.empty()) misuse("TEXT", "one of TEXT and --file", text ? "both" : "none");
  return text ? Texts{.texts = {text_or_input(*text)}} : texts_of(file);
}

Texts texts_of(const FileOfTexts& file) {
  const std::string content = content_of(file.path);
  Texts texts{.texts = {}, .file = name_of_file(file.path)};
  const std::string_view whole = require_utf8(content, texts.file);
  if (file.is_whole) {
    texts.texts.emplace_back(whole);
    texts.line_numbers.push_back(1);
    return texts;
  }
  if (!file.separator) return lines_in(whole, std::move(texts), EmptyLines::kept);
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
    if (line != *file.separator) {
      text += with_end;
      continue;
    }
    add();
    begin = number + 1;
  }
  if (!text.empty()) add();  // a last separator ends the last text
  if (texts.texts.empty()) throw Error(texts.file + ": expected a text, got an empty file");
  return texts;
}

Texts lines_of(const std::string& path, EmptyLines empty) {
  const std::string content = content_of(path);
  Texts lines{.texts = {}, .file = name_of_file(path)};
  const std::string_view whole = require_utf8(content, lines.file);
  return lines_in(whole, std::move(lines), empty);
}

}  // namespace qkv::cli
