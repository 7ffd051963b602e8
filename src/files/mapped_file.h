// A file's bytes in memory without reading them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace qkv::files {

/// Bytes that stay as long as `owner` does.
struct SharedBytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

[[nodiscard]] SharedBytes share_bytes(std::vector<std::byte> bytes);

/// The file mapped read only: the system reads pages when they are touched, and may drop them again. What cannot be
/// mapped (a pipe, a file that the kernel makes up) is read. A program that cuts the file short meanwhile ends this one
/// with SIGBUS; one that replaces it by another, as write_file() does, leaves the mapping as it is. Throws Error naming
/// the path.
[[nodiscard]] SharedBytes map_file(const std::string& path);

}  // namespace qkv::files
