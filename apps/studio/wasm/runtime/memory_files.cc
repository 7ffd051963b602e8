#include "memory_files.h"

#include <filesystem>

namespace qkv::wasm {

std::map<std::string, std::span<const std::byte>>& memory_files() {
  static std::map<std::string, std::span<const std::byte>> all;
  return all;
}

}  // namespace qkv::wasm

namespace std::filesystem {

bool exists(const path& file) { return qkv::wasm::memory_files().contains(file.string()); }

path read_symlink(const path&, error_code& error) {
  error = make_error_code(errc::no_such_file_or_directory);
  return {};
}

bool remove(const path&) { return false; }

bool create_directories(const path& directory) {
  error_code error;
  create_directories(directory, error);
  throw system_error(error, directory.string());
}

bool create_directories(const path&, error_code& error) {
  error = make_error_code(errc::read_only_file_system);
  return false;
}

directory_iterator::directory_iterator(const path& directory) {
  for (const auto& [file, bytes] : qkv::wasm::memory_files()) {
    if (path(file).parent_path().string() == directory.string()) entries_.emplace_back(file);
  }
}

}  // namespace std::filesystem
