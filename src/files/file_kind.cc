#include "files/file_kind.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "files/place.h"
#include "qkv/error.h"

namespace qkv::files {
namespace {

struct FileKind {
  std::string_view begin;
  std::string_view name;
};

constexpr std::array<FileKind, 15> kKinds = {{
    {"\x89PNG", "a PNG picture"},
    {"\xFF\xD8\xFF", "a JPEG picture"},
    {"GIF8", "a GIF picture"},
    {"GGUF", "a GGUF file"},
    {"\x93NUMPY", "a .npy file"},
    {"PK\x03\x04", "a ZIP archive, as .npz files are and a pickle of PyTorch: save the model again as safetensors"},
    {"\x80\x02", "a pickle of PyTorch: save the model again as safetensors"},
    {"\x80\x04", "a pickle of Python"},
    {"\x89HDF", "a file of HDF5, as TensorFlow has them: save the model again as safetensors"},
    {"\x1F\x8B", "a file packed by gzip"},
    {"\x28\xB5\x2F\xFD", "a file packed by zstd"},
    {"%PDF", "a PDF document"},
    {"\x7F"
     "ELF",
     "a program"},
    {"SQLite format 3", "a database of SQLite"},
    {"RIFF", "a RIFF file, as WAV and WebP are"},
}};

constexpr std::size_t kRead = 64;  // bytes, as many as kinds need

// In any case, behind blanks: what a server sends in place of a file that it does not give.
bool is_page(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  constexpr std::size_t kLongest = 9;
  std::string begin(bytes.substr(first, kLongest));
  for (char& letter : begin) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return begin == "<!doctype" || begin.starts_with("<html") || begin.starts_with("<?xml");
}

}  // namespace

std::string_view beginning_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kRead)};
}

std::string beginning_of(const std::string& path) {
  std::string begin(kRead, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file.gcount()));
  return begin;
}

std::string_view kind_of(std::string_view bytes) noexcept {
  const auto found = std::ranges::find_if(kKinds, [&](const FileKind& kind) { return bytes.starts_with(kind.begin); });
  if (found != kKinds.end()) return found->name;
  return is_page(bytes) ? "a page of the web (HTML), which a server may send in place of a file" : "";
}

void refuse_other_kind(std::string_view bytes, const std::string& source, std::string_view wanted) {
  require_fetched(bytes, source);
  const std::string_view kind = kind_of(bytes);
  if (!kind.empty()) throw FileError(source, "expected " + std::string(wanted) + ", got " + std::string(kind));
}

}  // namespace qkv::files
