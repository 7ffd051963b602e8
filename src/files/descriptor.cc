#include "files/descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "core/shortened.h"
#include "core/watched.h"
#include "files/reading.h"
#include "qkv/error.h"

namespace qkv::files {

void fail(std::string_view action, const std::string& path, const std::string& reason) {
  constexpr std::size_t kLongestPath = 4096;  // that the system opens
  throw FileError::saying(path,
                          std::string(action) + " " + core::shortened(shown_path(path), kLongestPath) + ": " + reason);
}

std::string system_reason(int code) { return std::generic_category().message(code); }

bool Descriptor::close() {
  const int number = std::exchange(number_, -1);
  return number < 0 || ::close(number) == 0;
}

namespace {

// A pipe is open once somebody writes to it; a signal that comes before may stop the call.
int opened(const std::string& path, int flags) {
  // Opened anew, a file begins again, and a socket is refused.
  if (path == kStandardInput) return ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  for (;;) {
    const int number = ::open(path.c_str(), flags);
    if (number >= 0 || errno != EINTR) return number;
    core::look();
  }
}

// What has neither a size nor an end is no file: /dev/zero, /dev/urandom, a disk.
bool may_be_endless(const Descriptor& descriptor, const struct stat& state) {
  if (S_ISBLK(state.st_mode)) return true;
  if (!S_ISCHR(state.st_mode) || ::isatty(descriptor.number()) == 1) return false;
  struct stat null{};
  return ::stat("/dev/null", &null) != 0 || state.st_rdev != null.st_rdev;
}

}  // namespace

Descriptor open_to_read(const std::string& path) {
  require_in_reach(path);
  const bool only_regular = places_of_thread().only_regular;
  // A pipe that nobody writes to would hold open() up.
  Descriptor descriptor(opened(path, O_RDONLY | O_CLOEXEC | (only_regular ? O_NONBLOCK : 0)));
  if (!descriptor.is_open()) fail("cannot read", path, system_reason(errno));
  struct stat state{};
  if (::fstat(descriptor.number(), &state) != 0) fail("cannot read", path, system_reason(errno));
  if (S_ISDIR(state.st_mode)) fail("cannot read", path, "it is a directory");
  if (only_regular && !S_ISREG(state.st_mode)) fail("cannot read", path, "expected a file, got a pipe or a device");
  if (may_be_endless(descriptor, state)) fail("cannot read", path, "expected a file or a pipe, got a device");
  return descriptor;
}

std::size_t size_of_file(const Descriptor& descriptor, const std::string& path) {
  struct stat state{};
  const bool known = ::fstat(descriptor.number(), &state) == 0 && S_ISREG(state.st_mode);
  if (!known) return 0;
  if (!std::in_range<std::ptrdiff_t>(state.st_size)) {
    fail("cannot read", path, std::to_string(state.st_size) + " bytes are more than this machine can address");
  }
  return static_cast<std::size_t>(state.st_size);
}

namespace {

// More than that is no text and no picture, and would be read until memory ends.
constexpr std::uint64_t kMostWhole = std::uint64_t{4} << 30U;
constexpr std::size_t kMostOfAPipe = std::size_t{1} << 30U;  // whose size is not known before

void require_size(std::size_t size, std::uint64_t most, const std::string& path) {
  most = std::min<std::uint64_t>(most, places_of_thread().most_bytes);
  if (size <= most) return;
  fail("cannot read", path, "expected at most " + std::to_string(most) + " bytes, got more");
}

}  // namespace

std::vector<std::byte> read_to_end(const Descriptor& descriptor, const std::string& path) {
  constexpr std::size_t kChunk = 1U << 20U;
  const std::size_t size = size_of_file(descriptor, path);
  require_size(size, kMostWhole, path);
  const std::size_t most = std::max(size, kMostOfAPipe);
  std::vector<std::byte> bytes(size);
  std::size_t filled = 0;
  for (;;) {
    core::look();                                               // a pipe may have no end
    if (filled == bytes.size()) bytes.resize(filled + kChunk);  // a pipe has no size, and a file may grow
    const ssize_t got = ::read(descriptor.number(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read", path, system_reason(errno));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
    require_size(filled, most, path);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace qkv::files
