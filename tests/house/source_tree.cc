#include "house/source_tree.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace qkv::house {
namespace {

// What the build and npm leave beside the sources, and git ignores.
bool is_made(const std::string& name) { return name == "node_modules" || name == "dist" || name == "messages.ts"; }

}  // namespace

std::filesystem::path root() { return QKV_SOURCE_DIR; }

SourceFile read_file(const std::filesystem::path& path) {
  std::ifstream stream(root() / path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + path.string());
  return {path, {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()}};
}

std::vector<SourceFile> files_below(const std::filesystem::path& folder,
                                    const std::vector<std::string_view>& extensions) {
  std::vector<SourceFile> files;
  if (!std::filesystem::exists(root() / folder)) return files;
  const std::filesystem::recursive_directory_iterator all(root() / folder);
  for (auto at = begin(all); at != end(all); ++at) {
    const auto& entry = *at;
    if (is_made(entry.path().filename().string())) {
      if (entry.is_directory()) at.disable_recursion_pending();
      continue;
    }
    const std::string extension = entry.path().extension().string();
    if (!entry.is_regular_file() || std::ranges::find(extensions, extension) == extensions.end()) continue;
    files.push_back(read_file(entry.path().lexically_relative(root())));
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace qkv::house
