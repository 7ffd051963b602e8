#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "qkv/files.h"

namespace qkv {
namespace {

[[noreturn]] void fail(std::string_view action, const std::string& path, const std::string& reason) {
  throw Error(std::string(action) + " " + path + ": " + reason);
}

std::string system_reason() { return std::generic_category().message(errno); }

void write_all(const std::string& path, std::span<const std::byte> bytes) {
  errno = 0;
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  if (!stream) fail("cannot write", path, system_reason());
  stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream) fail("cannot write", path, system_reason());
}

}  // namespace

std::vector<std::byte> read_file(const std::string& path) {
  errno = 0;
  std::error_code not_a_directory;
  if (std::filesystem::is_directory(path, not_a_directory)) fail("cannot read", path, "it is a directory");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail("cannot read", path, system_reason());
  std::vector<std::byte> bytes;
  std::vector<char> chunk(1U << 20U);
  while (stream.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || stream.gcount() > 0) {
    const auto* first = reinterpret_cast<const std::byte*>(chunk.data());
    bytes.insert(bytes.end(), first, first + stream.gcount());
  }
  if (stream.bad()) fail("cannot read", path, system_reason());
  return bytes;
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  const std::string temporary = path + ".partial-" + std::to_string(::getpid());
  try {
    write_all(temporary, bytes);
    std::filesystem::rename(temporary, path);
  } catch (const std::filesystem::filesystem_error& error) {
    std::filesystem::remove(temporary);
    fail("cannot write", path, error.code().message());
  } catch (const Error& error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw;
  }
}

void write_file(const std::string& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace qkv
