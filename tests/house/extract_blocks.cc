// extract_blocks FOLDER [DOCUMENT…]: writes each ```cpp block of the documents (all of the repository's, if none is
// named) to FOLDER/<name>.cc, after removing what an earlier run left there.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <span>

#include "house/documents.h"

namespace {

namespace fs = std::filesystem;
using qkv::house::SourceFile;

void extract(const fs::path& folder, const std::vector<SourceFile>& documents) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  int count = 0;
  for (const SourceFile& document : documents) {
    for (const auto& block : qkv::house::code_blocks(document)) {
      std::ofstream(folder / (block.name + ".cc")) << block.program;
      ++count;
    }
  }
  std::printf("%d code blocks of %zu documents\n", count, documents.size());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::span<char*> words(argv, static_cast<std::size_t>(argc));
    if (words.size() < 2) throw std::runtime_error("usage: extract_blocks FOLDER [DOCUMENT...]");
    std::vector<SourceFile> documents;
    for (const char* path : words.subspan(2)) documents.push_back(qkv::house::read_file(path));
    extract(words[1], documents.empty() ? qkv::house::documents() : documents);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
