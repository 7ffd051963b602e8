#include "house/documents.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <regex>
#include <stdexcept>

namespace qkv::house {
namespace {

namespace fs = std::filesystem;

struct Fence {
  std::string language;
  std::size_t first_line = 0;  // of the code, from 1
  std::vector<std::string> code;
};

struct Parts {
  std::vector<Fence> fences;
  std::string prose;
};

Parts parts_of(const SourceFile& document) {
  static const std::regex kFence(R"(^ {0,3}```\s*([A-Za-z0-9+]*).*$)");
  Parts parts;
  bool open = false;
  std::size_t number = 0;
  for (const std::string& line : lines_of(document.text)) {
    ++number;
    std::smatch match;
    if (std::regex_match(line, match, kFence)) {
      if (!open) parts.fences.push_back({match[1].str(), number + 1, {}});
      open = !open;
    } else if (open) {
      parts.fences.back().code.push_back(line);
    } else {
      parts.prose += line + "\n";
    }
  }
  if (open) {
    throw std::runtime_error(document.path.string() + ":" + std::to_string(parts.fences.back().first_line - 1) +
                             ": a code block that is never closed");
  }
  return parts;
}

bool is_include(const std::string& line) {
  const std::size_t start = line.find_first_not_of(' ');
  return start != std::string::npos && line.compare(start, 8, "#include") == 0;
}

std::string program_of(const fs::path& document, const Fence& fence) {
  static const std::regex kMain(R"(\bint\s+main\s*\()");
  const auto has_main = [](const std::string& line) { return std::regex_search(line, kMain); };
  const bool whole = std::ranges::any_of(fence.code, has_main);
  std::string includes;
  std::string body;
  for (const std::string& line : fence.code) {
    const bool moved = !whole && is_include(line);
    if (moved) includes += line + "\n";
    body += (moved ? "" : line) + "\n";
  }
  const std::string place = "#line " + std::to_string(fence.first_line) + " \"" + document.string() + "\"\n";
  return whole ? place + body : includes + "int main() {\n" + place + body + "}\n";
}

std::string name_of(const fs::path& document, const Fence& fence) {
  std::string name = fs::path(document).replace_extension().string();
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name + "_line_" + std::to_string(fence.first_line);
}

bool is_web_address(const std::string& target) {
  return target.find("://") != std::string::npos || target.starts_with('#') || target.starts_with("mailto:");
}

void add_links(const SourceFile& document, const std::string& prose, std::vector<std::string>& paths) {
  static const std::regex kLink(R"(\]\(([^)\s#]+)[^)]*\)|(?:src|href)="([^"#]+)\")");
  for (std::sregex_iterator it(prose.begin(), prose.end(), kLink); it != std::sregex_iterator(); ++it) {
    const std::string target = (*it)[1].matched ? (*it)[1].str() : (*it)[2].str();
    if (is_web_address(target)) continue;
    paths.push_back((document.path.parent_path() / target).lexically_normal().string());
  }
}

// A code span counts as a path when its first part is a folder of the repository.
void add_spans(const std::string& prose, std::vector<std::string>& paths) {
  static const std::regex kSpan(R"(`((?:[A-Za-z0-9_.-]+/)+[A-Za-z0-9_.-]*)`)");
  for (std::sregex_iterator it(prose.begin(), prose.end(), kSpan); it != std::sregex_iterator(); ++it) {
    const std::string span = (*it)[1].str();
    const fs::path first = *fs::path(span).begin();
    if (first == "qkv") {
      paths.push_back("include/" + span);
    } else if (first != "build" && fs::is_directory(root() / first) && first != "." && first != "..") {
      paths.push_back(span);
    }
  }
}

// What is no ASCII stays, as letters do; GitHub drops marks such as dashes, which no heading that is linked to has.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == ' ') anchor += '-';
    if (byte >= 0x80 || std::isalnum(byte) != 0 || byte == '-' || byte == '_') {
      anchor += static_cast<char>(std::tolower(byte));
    }
  }
  return anchor;
}

}  // namespace

std::vector<SourceFile> documents() {
  std::vector<SourceFile> found = files_below("docs", {".md"});
  for (const char* name : {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}) {
    if (fs::exists(root() / name)) found.push_back(read_file(name));
  }
  return found;
}

std::vector<CodeBlock> code_blocks(const SourceFile& document) {
  std::vector<CodeBlock> blocks;
  for (const Fence& fence : parts_of(document).fences) {
    if (fence.language == "cpp") blocks.push_back({name_of(document.path, fence), program_of(document.path, fence)});
  }
  return blocks;
}

std::vector<std::string> named_paths(const SourceFile& document) {
  const std::string prose = parts_of(document).prose;
  std::vector<std::string> paths;
  add_links(document, prose, paths);
  add_spans(prose, paths);
  return paths;
}

std::vector<std::string> anchors(const SourceFile& document) {
  static const std::regex kHeading(R"(#{1,6} +(.*[^ ]) *)");
  std::vector<std::string> found;
  for (const std::string& line : lines_of(parts_of(document).prose)) {
    std::smatch match;
    if (!std::regex_match(line, match, kHeading)) continue;
    const std::string first = anchor_of(match[1].str());
    std::string anchor = first;
    for (int n = 1; std::ranges::count(found, anchor) > 0; ++n) anchor = first + "-" + std::to_string(n);
    found.push_back(anchor);
  }
  return found;
}

std::vector<std::string> named_headings(const SourceFile& document) {
  static const std::regex kLink(R"(\]\(([^)\s#]*)#([^)\s]+)\))");
  const std::string prose = parts_of(document).prose;
  std::vector<std::string> found;
  for (std::sregex_iterator it(prose.begin(), prose.end(), kLink); it != std::sregex_iterator(); ++it) {
    const std::string target = (*it)[1].str();
    if (is_web_address(target)) continue;
    const fs::path path = target.empty() ? document.path : document.path.parent_path() / target;
    found.push_back(path.lexically_normal().string() + "#" + (*it)[2].str());
  }
  return found;
}

}  // namespace qkv::house
