#include "lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "misuse.h"
#include "qkv/error.h"
#include "qkv/files.h"
#include "qkv/number_text.h"

namespace qkv::cli {
namespace {

constexpr const char* kInput = "-";

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

std::string content_of(const std::string& path) {
  if (path == kInput) return standard_input(std::string::npos - 1);
  const std::vector<std::byte> bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string text_or_input(const std::string& text) {
  constexpr std::size_t kMost = std::size_t{1} << 20;  // kExplainTokens words of 256 bytes
  if (text != kInput) return text;
  std::string read = standard_input(kMost);
  if (read.size() > kMost) throw Error(fmt::format("standard input: expected a text of at most {} bytes", kMost));
  if (read.ends_with('\n')) read.resize(read.size() - (read.ends_with("\r\n") ? 2 : 1));
  return read;
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

Texts texts_from(const std::optional<std::string>& text, const std::string& file) {
  if (text.has_value() != file.empty()) misuse("TEXT", "one of TEXT and --file", text ? "both" : "none");
  return text ? Texts{.texts = {text_or_input(*text)}} : lines_of(file, EmptyLines::kept);
}

Texts lines_of(const std::string& path, EmptyLines empty) {
  const std::string content = content_of(path);
  std::string_view rest = content;
  Texts lines{.texts = {}, .file = path == kInput ? "standard input" : path};
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

}  // namespace qkv::cli
