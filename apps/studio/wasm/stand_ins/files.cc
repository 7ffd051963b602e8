// Files of an engine that has none: those that the page handed in can be read, and nothing can be written.
#include "qkv/files.h"

#include "files/checksum.h"
#include "files/descriptor.h"
#include "files/mapped_file.h"
#include "qkv/npz.h"
#include "qkv/safetensors.h"
#include "runtime/memory_files.h"

namespace qkv {
namespace {

[[noreturn]] void refuse(std::string_view action, const std::string& path) {
  files::fail(action, path, "the engine in a page has no files; `qkv view` reads yours");
}

std::span<const std::byte> bytes_of(const std::string& path) {
  const auto& files = wasm::memory_files();
  const auto found = files.find(path);
  if (found == files.end()) refuse("cannot read", path);
  return found->second;
}

}  // namespace

void files::fail(std::string_view action, const std::string& path, const std::string& reason) {
  throw FileError::saying(path, std::string(action) + " " + path + ": " + reason);
}

files::SharedBytes files::share_bytes(std::vector<std::byte> bytes) {
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {.owner = owner, .bytes = *owner};
}

// Models of the page come from where the page comes from.
void files::require_sound(const Safetensors& /*file*/) {}
std::vector<std::byte> files::encode_checked_safetensors(std::span<const NamedView> tensors,
                                                         const std::map<std::string, std::string>& metadata) {
  return encode_safetensors(tensors, metadata);
}

files::SharedBytes files::map_file(const std::string& path) { return {.owner = nullptr, .bytes = bytes_of(path)}; }

std::vector<std::byte> read_file(const std::string& path) {
  const std::span<const std::byte> bytes = bytes_of(path);
  return {bytes.begin(), bytes.end()};
}

void require_readable(const std::string& path) { static_cast<void>(bytes_of(path)); }

Npz::Npz(const std::string& path) { refuse("cannot read", path); }
Tensor Npz::load(std::string_view /*name*/) const { refuse("cannot read", path_); }
std::vector<std::string> npz_names(const std::string& path) { refuse("cannot read", path); }
Tensor read_npz(const std::string& path, const std::string& /*name*/) { refuse("cannot read", path); }

void write_file(const std::string& path, std::span<const std::byte> /*bytes*/) { refuse("cannot write", path); }
void write_file(const std::string& path, std::string_view /*text*/) { refuse("cannot write", path); }
void write_files(std::span<const FileContent> files) {
  if (!files.empty()) refuse("cannot write", files.front().path);
}
void make_directory(const std::string& path) { refuse("cannot write", path); }
void require_writable(const std::string& path) { refuse("cannot write", path); }

}  // namespace qkv
