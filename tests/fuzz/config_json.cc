// Any bytes as the config.json of a folder whose weights are not there: an error that is never the caller's misuse.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "qkv/error.h"
#include "qkv/model/model.h"

namespace {

// One folder for all inputs of a process.
const std::filesystem::path& folder() {
  static const std::filesystem::path kFolder = [] {
    std::string name = std::filesystem::temp_directory_path() / "qkv-config-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    // A header of safetensors without tensors.
    std::ofstream(name + "/model.safetensors", std::ios::binary).write("\x02\0\0\0\0\0\0\0{}", 10);
    return std::filesystem::path(name);
  }();
  return kFolder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::ofstream(folder() / "config.json", std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    static_cast<void>(qkv::Model::open(folder().string()));
    std::abort();  // no model has no weights
  } catch (const qkv::InvalidArgument&) {
    std::abort();
  } catch (const qkv::Error&) {  // NOLINT(bugprone-empty-catch): what any such folder deserves
  }
  return 0;
}
