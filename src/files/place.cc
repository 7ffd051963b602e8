#include "files/place.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "files/descriptor.h"
#include "qkv/error.h"
#include "qkv/files.h"

namespace qkv::files {
namespace {

std::filesystem::file_status status_of(const std::string& path) {
  std::error_code reason;
  const std::filesystem::file_status status = std::filesystem::status(path, reason);
  if (status.type() == std::filesystem::file_type::none) fail("cannot read", path, reason.message());
  return status;
}

}  // namespace

bool is_there(const std::string& path) { return std::filesystem::exists(status_of(path)); }

bool is_folder(const std::string& path) { return std::filesystem::is_directory(status_of(path)); }

void require_fetched(std::string_view bytes, const std::string& path) {
  if (!bytes.starts_with("version https://git-lfs.github.com/spec/")) return;
  throw Error(path + ": a Git LFS pointer in place of the file itself: fetch it by `git lfs pull`");
}

std::string_view other_than_safetensors(const std::string& path) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOthers = {
      {{"PK\x03\x04", "a pickle of PyTorch: save the model again as safetensors"},
       {"\x80\x02", "a pickle of PyTorch: save the model again as safetensors"},
       {"\x89HDF", "one of TensorFlow: save the model again as safetensors"},
       {"\x89PNG", "a picture"}}};
  constexpr std::size_t kLength = 8;
  constexpr std::size_t kRead = 64;
  std::string begin(kRead, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file.gcount()));
  if (begin.size() > kLength && begin[kLength] == '{') return {};
  require_fetched(begin, path);
  for (const auto& [first, what] : kOthers) {
    if (begin.starts_with(first)) return what;
  }
  return begin.empty() ? "an empty file" : kAnotherFile;
}

std::string read_text(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  require_fetched(text, path);
  return text;
}

}  // namespace qkv::files
