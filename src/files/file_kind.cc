#include "files/file_kind.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "core/ascii.h"
#include "files/place.h"
#include "qkv/error.h"

namespace qkv::files {
namespace {

struct FileKind {
  std::string_view begin;
  std::string_view name;
  std::string_view then = "";  // what stands from byte `at` on
  std::size_t at = 0;
};

constexpr std::array<FileKind, 23> kKinds = {{
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
    {"RIFF", "a WAV sound", "WAVE", 8},
    {"RIFF", "a WebP picture", "WEBP", 8},
    {"RIFF", "a RIFF file"},
    {"fLaC", "a FLAC sound"},
    {"OggS", "an Ogg sound"},
    {"ID3", "an MP3 sound"},
    {"\xFF\xFB", "an MP3 sound"},
    {"", "an MP4 file, as M4A sounds are", "ftyp", 4},
    {"BM", "a BMP picture", std::string_view("\0\0\0\0", 4), 6},
}};

constexpr std::string_view kPage = "a page of the web (HTML), which a server may send in place of a file";

// What is written in tags, in any case, behind blanks. A page is what a server sends in place of a file that it does
// not give.
std::string_view kind_of_tags(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || bytes[first] != '<') return "";
  const std::string text = core::small_letters(std::string(bytes.substr(first, kBeginning)));
  if (text.starts_with("<svg") || text.starts_with("<!doctype svg")) return "an SVG picture";
  if (text.starts_with("<!doctype") || text.starts_with("<html")) return kPage;
  if (!text.starts_with("<?xml")) return "";
  if (text.find("<html") != std::string::npos) return kPage;
  return text.find("<svg") != std::string::npos ? "an SVG picture" : "an XML file";
}

// The length of a header, of which the upper bytes are zero, and its brace.
bool is_safetensors(std::string_view bytes) {
  using namespace std::string_view_literals;
  constexpr std::size_t kLength = 8;
  return bytes.size() > kLength && bytes[kLength] == '{' && bytes.substr(kLength / 2).starts_with("\0\0\0\0"sv);
}

}  // namespace

std::string_view beginning_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kBeginning)};
}

std::string beginning_of(const std::string& path) {
  std::string begin(kBeginning, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file.gcount()));
  return begin;
}

std::string_view kind_of(std::string_view bytes) {
  if (is_safetensors(bytes)) return "a safetensors file";
  const auto found = std::ranges::find_if(kKinds, [&](const FileKind& kind) {
    return bytes.starts_with(kind.begin) && bytes.size() > kind.at && bytes.substr(kind.at).starts_with(kind.then);
  });
  if (found != kKinds.end()) return found->name;
  return kind_of_tags(bytes);
}

void refuse_other_kind(std::string_view bytes, const std::string& source, std::string_view wanted) {
  require_fetched(bytes, source);
  const std::string_view kind = kind_of(bytes);
  if (!kind.empty()) throw FileError(source, "expected " + std::string(wanted) + ", got " + std::string(kind));
}

}  // namespace qkv::files
