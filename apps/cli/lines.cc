#include "lines.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "qkv/error.h"
#include "qkv/files.h"

namespace qkv::cli {
namespace {

constexpr const char* kInput = "-";
constexpr std::size_t kMostText = std::size_t{1} << 20;  // kExplainTokens words of 256 bytes
constexpr const char* kInputFile = "/dev/stdin";

void require_read() {
  if (std::ferror(stdin) != 0) throw Error("cannot read standard input: " + std::system_category().message(errno));
}

[[noreturn]] void refuse_more_input(std::size_t most) {
  throw Error(fmt::format("standard input: expected a text of at most {} bytes, got more", most));
}

// No more than `most` bytes and one.
std::string standard_input(std::size_t most) {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  std::string text;
  for (std::size_t got = kBlock; got == kBlock && text.size() <= most;) {
    const std::size_t before = text.size();
    text.resize(before + kBlock);
    got = std::fread(text.data() + before, 1, kBlock, stdin);
    text.resize(before + got);
  }
  require_read();
  if (text.size() > most) refuse_more_input(most);
  return text;
}

// Without the end of its last line.
std::string text_of_input() {
  const std::string read = standard_input(kMostText);
  std::string_view valid = require_utf8(read, "standard input");
  if (valid.ends_with('\n')) valid.remove_suffix(valid.ends_with("\r\n") ? 2 : 1);
  return std::string(valid);
}

}  // namespace

std::optional<std::string> line_of_input() {
  std::string line;
  int byte = std::getc(stdin);
  for (; byte != EOF && byte != '\n'; byte = std::getc(stdin)) {
    line += static_cast<char>(byte);
    if (line.size() > kMostText) refuse_more_input(kMostText);
  }
  require_read();
  if (byte == EOF && line.empty()) return std::nullopt;
  if (line.ends_with('\r')) line.pop_back();
  return std::string(require_utf8(line, "standard input"));
}

void read_input(std::span<const FieldInfo> fields, FieldValues& values) {
  for (auto& [n, value] : values) {
    auto* const text = std::get_if<std::string>(&value);
    if (text == nullptr || *text != kInput || !fields[n].is_text) continue;
    if (fields[n].form == "FILE") {
      *text = kInputFile;
    } else {
      value = checked_value(fields[n], text_of_input(), "");
    }
  }
}

}  // namespace qkv::cli
