// Hashes of files, as a hub gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

struct evp_md_ctx_st;

namespace qkv::hub {

/// The hash that a hub gives of a file: SHA-256 where it has 64 digits, else that of git's blob: SHA-1 of "blob
/// <size>", a zero and the bytes.
class FileHash {
 public:
  FileHash(const std::string& wanted, std::int64_t size);
  FileHash(const FileHash&) = delete;
  FileHash& operator=(const FileHash&) = delete;
  ~FileHash();

  void add(std::span<const std::byte> bytes);
  /// In hexadecimal; nothing may be added afterwards.
  [[nodiscard]] std::string digits();

 private:
  evp_md_ctx_st* context_;
};

/// Whether the file has this size and hash. Throws Error if it cannot be read.
[[nodiscard]] bool is_whole(const std::string& path, std::int64_t size, const std::string& hash);

}  // namespace qkv::hub
