// A file that is being fetched: its bytes so far, under a name of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "qkv/hub/fetch.h"

namespace qkv::hub {

/// Open for one process at a time. What an earlier one left is kept.
class PartialFile {
 public:
  /// Throws Error if it cannot be written, or another process has it.
  PartialFile(const std::string& folder, const HubFile& file);
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  /// Throws Error where the disk is full.
  void append(std::span<const std::byte> bytes);
  void clear();
  void remove();
  /// Gives the file its name.
  void finish(const std::string& path);

 private:
  std::string path_;
  int file_;
  std::int64_t size_ = 0;
};

}  // namespace qkv::hub
