#include "lines.h"

#include <algorithm>
#include <string_view>

#include "misuse.h"
#include "qkv/error.h"
#include "qkv/files.h"

namespace qkv::cli {

std::vector<std::string> texts_from(const std::optional<std::string>& text, const std::string& file) {
  if (text.has_value() != file.empty()) misuse("TEXT", "one of TEXT and --file", text ? "both" : "none");
  return text ? std::vector{*text} : lines_of(file);
}

std::vector<std::string> lines_of(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string> lines;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.emplace_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (lines.empty()) throw Error(path + ": expected a text on each line, got none");
  return lines;
}

}  // namespace qkv::cli
