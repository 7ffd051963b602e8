// studio_messages FILE: the TypeScript types of the studio's questions. The file is left as it is if it says the same.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "qkv/files.h"
#include "qkv/view/studio.h"

namespace {

bool says(const std::string& path, std::string_view text) {
  if (!std::filesystem::exists(path)) return false;
  const auto bytes = qkv::read_file(path);
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == text;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw qkv::Error("expected one path");
    const std::string text = qkv::studio_messages();
    if (!says(argv[1], text)) qkv::write_file(argv[1], std::as_bytes(std::span(text)));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "studio_messages: %s\n", error.what());
    return 1;
  }
}
