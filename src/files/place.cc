#include "files/place.h"

#include <filesystem>
#include <utility>

#include "files/descriptor.h"
#include "files/file_kind.h"
#include "files/mapped_file.h"
#include "files/reading.h"
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
  throw FileError(path, "a Git LFS pointer in place of the file itself: fetch it by `git lfs pull`");
}

std::string_view other_than_safetensors(std::span<const std::byte> bytes, const std::string& path) {
  constexpr std::size_t kLength = 8;
  const std::string_view begin = beginning_of(bytes);
  if (begin.size() > kLength && begin[kLength] == '{') return {};
  require_fetched(begin, path);
  if (begin.empty()) return "an empty file";
  const std::string_view kind = kind_of(begin);
  return kind.empty() ? kAnotherFile : kind;
}

std::string expected_weights() { return "expected a file of safetensors or GGUF, or a folder with config.json, got "; }

Safetensors read_safetensors(const std::string& path) {
  SharedBytes bytes = map_file(path);
  const std::string_view other = other_than_safetensors(bytes.bytes, path);
  if (!other.empty()) throw FileError(path, "expected a safetensors file, got " + std::string(other));
  return {std::move(bytes), path};
}

std::string read_bytes(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  require_fetched(text, path);
  return text;
}

std::string read_text(const std::string& path) {
  std::string bytes = read_bytes(path);
  const std::string_view text = require_utf8(bytes, shown_path(path));
  bytes.erase(0, bytes.size() - text.size());  // a byte order mark
  return bytes;
}

}  // namespace qkv::files
