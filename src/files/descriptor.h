// An open file of the system.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qkv::files {

/// Throws FileError "<action> <path>: <reason>".
[[noreturn]] void fail(std::string_view action, const std::string& path, const std::string& reason);
/// The system's text for an errno.
[[nodiscard]] std::string system_reason(int code);

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { static_cast<void>(close()); }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  /// close() is where some file systems tell that a write has failed.
  [[nodiscard]] bool close();

 private:
  int number_;
};

/// Throws Error naming the path for what cannot be opened, for a directory, and for a device that is neither a terminal
/// nor /dev/null.
[[nodiscard]] Descriptor open_to_read(const std::string& path);

/// Bytes of a regular file; 0 for a pipe and for files that the kernel makes up as they are read. Throws Error where
/// they are more than this machine can address.
[[nodiscard]] std::size_t size_of_file(const Descriptor& descriptor, const std::string& path);

/// Every byte from where the descriptor stands. Throws Error for more than 4 GiB, and for more than 1 GiB of what has
/// no size, such as a pipe.
[[nodiscard]] std::vector<std::byte> read_to_end(const Descriptor& descriptor, const std::string& path);

}  // namespace qkv::files
