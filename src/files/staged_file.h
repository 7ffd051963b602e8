// Files and folders that are written under a temporary name, and appear whole.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "files/descriptor.h"

namespace qkv::files {

/// Where the bytes go: `file` after following links, and whether it is a device or a pipe, which is written to in
/// place.
struct WriteTarget {
  std::string file;
  bool in_place = false;
  std::optional<mode_t> permissions;  // of the file that is there already
};
/// Throws Error for a directory.
[[nodiscard]] WriteTarget write_target_of(const std::string& path);

/// "." of a name alone.
[[nodiscard]] std::string directory_of(const std::string& file);

/// Throws Error naming `path`, which stands for the descriptor, and the system's reason.
void write_all(const Descriptor& descriptor, const std::string& path, std::span<const std::byte> bytes);

/// A regular file under a temporary name beside its target. The destructor removes it unless it has appeared, and so
/// does a signal. Every function throws Error naming the path and the system's reason.
class StagedFile {
 public:
  /// Throws Error for a device or a pipe, too, which is written to in place.
  explicit StagedFile(const std::string& path);
  StagedFile(StagedFile&& other) noexcept;
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;
  StagedFile& operator=(StagedFile&&) = delete;
  ~StagedFile() { discard(); }

  [[nodiscard]] const std::string& temporary() const noexcept { return temporary_; }
  void write(std::span<const std::byte> bytes);
  /// All bytes are on the disk; nothing is written after that.
  void finish();
  /// By its name, in place of what was there. After finish().
  void appear();

 private:
  int create();
  void discard() noexcept;
  void forget() noexcept;

  std::string path_;
  WriteTarget target_;
  std::string temporary_;
  std::optional<std::size_t> slot_;
  Descriptor descriptor_;
};

/// A folder under a temporary name beside its place. The destructor removes it with all that is in it unless it has
/// appeared; so does a signal, with what it was told of.
class StagedFolder {
 public:
  /// Throws Error if there is anything at `path` but an empty folder, and for a place that cannot be written to.
  explicit StagedFolder(std::string path);
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  ~StagedFolder();

  [[nodiscard]] const std::string& temporary() const noexcept { return temporary_; }
  /// Where a file of this name is to be written: "1_Pooling/config.json" has its folder then.
  [[nodiscard]] std::string add(const std::string& name);
  /// Throws Error naming the path and the system's reason.
  void appear();

 private:
  void note(const std::string& name);
  void forget() noexcept;

  std::string path_;
  std::string temporary_;
  std::vector<std::size_t> slots_;
};

}  // namespace qkv::files
