// A directory that one process at a time works in.
#pragma once

#include <string>

namespace qkv::training {

/// Held while this lives; the kernel lets go of it however the process ends. Where a file system knows no locks,
/// nothing is held.
class DirectoryLock {
 public:
  /// Throws Error with `taken` if another process holds it, and if the directory cannot be read.
  DirectoryLock(const std::string& directory, const std::string& taken);
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock();

 private:
  int file_;
};

/// Whether another holds it now.
[[nodiscard]] bool is_locked(const std::string& directory);

}  // namespace qkv::training
