// studio_messages FILE.ts: the TypeScript types of the studio's questions. studio_messages FILE.md: the file with the
// questions' tables in place of those between its two marks; operations-in-code.md has the operations there. A file is
// left as it is if it says the same.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include "qkv/api/questions.h"
#include "qkv/error.h"
#include "qkv/explain/operations.h"
#include "qkv/files.h"

namespace {

std::string content_of(const std::string& path) {
  if (!std::filesystem::exists(path)) return {};
  const auto bytes = qkv::read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string with_tables(const std::string& document, const std::string& tables) {
  constexpr std::string_view kBegin = "<!-- made by studio_messages: begin -->\n";
  constexpr std::string_view kEnd = "<!-- made by studio_messages: end -->\n";
  const std::size_t begin = document.find(kBegin);
  const std::size_t end = document.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos) throw qkv::Error("the document has no marks");
  return document.substr(0, begin + kBegin.size()) + tables + document.substr(end);
}

void write(const std::string& path) {
  const std::string before = content_of(path);
  const bool is_code = path.ends_with("operations-in-code.md");
  const std::string text = !path.ends_with(".md") ? qkv::questions_as_typescript()
                                                  : with_tables(before, is_code ? qkv::operations_as_markdown()
                                                                                : qkv::questions_as_markdown());
  if (text != before) qkv::write_file(path, std::string_view(text));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw qkv::Error("expected one path");
    write(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "studio_messages: %s\n", error.what());
    return 1;
  }
}
