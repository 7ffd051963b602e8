// Runs a fuzz target once over each file of the folder it is given, where libFuzzer is not at hand.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::uint8_t> read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::filesystem::filesystem_error("cannot open", path, std::make_error_code(std::errc::io_error));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

int replay(const char* folder) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::vector<std::uint8_t> bytes = read(entry.path());
    static_cast<void>(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()));
    ++count;
  }
  std::printf("%d inputs of %s\n", count, folder);
  return count > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2) return replay(argv[1]);
    std::fputs("usage: fuzz_<name> <corpus folder>\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 1;
}
