#include "files/descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>

#include "files/reading.h"
#include "qkv/error.h"

namespace qkv::files {

void fail(std::string_view action, const std::string& path, const std::string& reason) {
  throw Error(std::string(action) + " " + path + ": " + reason);
}

std::string system_reason(int code) { return std::generic_category().message(code); }

bool Descriptor::close() {
  const int number = std::exchange(number_, -1);
  return number < 0 || ::close(number) == 0;
}

Descriptor open_to_read(const std::string& path) {
  require_in_reach(path);
  const bool only_regular = places_of_thread().only_regular;
  // A pipe that nobody writes to would hold open() up.
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | (only_regular ? O_NONBLOCK : 0)));
  if (!descriptor.is_open()) fail("cannot read", path, system_reason(errno));
  struct stat state{};
  if (::fstat(descriptor.number(), &state) != 0) fail("cannot read", path, system_reason(errno));
  if (S_ISDIR(state.st_mode)) fail("cannot read", path, "it is a directory");
  if (only_regular && !S_ISREG(state.st_mode)) fail("cannot read", path, "expected a file, got a pipe or a device");
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

void require_size(std::size_t size, const std::string& path) {
  const std::size_t most = places_of_thread().most_bytes;
  if (size <= most) return;
  fail("cannot read", path, "expected at most " + std::to_string(most) + " bytes, got more");
}

}  // namespace

std::vector<std::byte> read_to_end(const Descriptor& descriptor, const std::string& path) {
  constexpr std::size_t kChunk = 1U << 20U;
  const std::size_t size = size_of_file(descriptor, path);
  require_size(size, path);
  std::vector<std::byte> bytes(size);
  std::size_t filled = 0;
  for (;;) {
    if (filled == bytes.size()) bytes.resize(filled + kChunk);  // a pipe has no size, and a file may grow
    const ssize_t got = ::read(descriptor.number(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read", path, system_reason(errno));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
    require_size(filled, path);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace qkv::files
