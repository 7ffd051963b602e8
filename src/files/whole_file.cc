#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "files/descriptor.h"
#include "qkv/files.h"

namespace qkv {
namespace {

namespace fs = std::filesystem;

using files::Descriptor;
using files::fail;
using files::system_reason;

void write_all(const Descriptor& descriptor, const std::string& path, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write", path, system_reason(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

// Where the bytes go: `file` after following links, and whether it is a device or a pipe, which is written to in place.
struct Target {
  std::string file;
  bool in_place = false;
  std::optional<mode_t> permissions;  // of the file that is there already
};

Target target_of(const std::string& path) {
  constexpr int kMostLinks = 40;
  fs::path file = path;
  std::error_code none;
  for (int i = 0; i < kMostLinks && fs::is_symlink(file, none); ++i) {
    // /dev/stdout and /proc/self/fd/1 name an open file, which a rename would not reach.
    if (file.parent_path() == "/dev" || file.native().starts_with("/dev/fd/") || file.native().starts_with("/proc/")) {
      return {.file = file, .in_place = true, .permissions = std::nullopt};
    }
    file = file.parent_path() / fs::read_symlink(file, none);
  }
  struct stat state{};
  if (::stat(file.c_str(), &state) != 0) return {.file = file, .in_place = false, .permissions = std::nullopt};
  if (S_ISDIR(state.st_mode)) fail("cannot write", path, "it is a directory");
  return {.file = file, .in_place = !S_ISREG(state.st_mode), .permissions = state.st_mode & 07777U};
}

std::string directory_of(const std::string& file) {
  const fs::path parent = fs::path(file).parent_path();
  return parent.empty() ? "." : parent.native();
}

// A file under its temporary name. The destructor removes it unless it has been renamed.
class Staged {
 public:
  Staged(const std::string& path, std::span<const std::byte> bytes) : path_(path), target_(target_of(path)) {
    if (target_.in_place) return;
    Descriptor descriptor(create());
    try {
      write_all(descriptor, path, bytes);
      if (target_.permissions) static_cast<void>(::fchmod(descriptor.number(), *target_.permissions));
      if (::fsync(descriptor.number()) != 0 || !descriptor.close()) fail("cannot write", path, system_reason(errno));
    } catch (...) {
      discard();
      throw;
    }
  }
  Staged(Staged&& other) noexcept
      : path_(std::move(other.path_)),
        target_(std::move(other.target_)),
        temporary_(std::exchange(other.temporary_, {})) {}
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;
  Staged& operator=(Staged&&) = delete;
  ~Staged() { discard(); }

  void appear(std::span<const std::byte> bytes) {
    if (target_.in_place) {
      write_in_place(bytes);
      return;
    }
    if (::rename(temporary_.c_str(), target_.file.c_str()) != 0) fail("cannot write", path_, system_reason(errno));
    temporary_.clear();
    // The name itself is on the disk when the directory is; some file systems do not offer that, which is no failure.
    const Descriptor directory(::open(directory_of(target_.file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.is_open()) static_cast<void>(::fsync(directory.number()));
  }

 private:
  // Exclusive, so that it opens neither another writer's file nor a planted link. The kernel applies the umask to 0666.
  int create() {
    static std::atomic<unsigned> serial{0};
    for (;;) {
      temporary_ =
          directory_of(target_.file) + "/.qkv-partial-" + std::to_string(::getpid()) + "-" + std::to_string(serial++);
      const int number = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (number >= 0) return number;
      if (errno == EEXIST || errno == EINTR) continue;
      const int reason = errno;
      temporary_.clear();
      fail("cannot write", path_, system_reason(reason));
    }
  }

  void write_in_place(std::span<const std::byte> bytes) const {
    Descriptor descriptor(::open(target_.file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!descriptor.is_open()) fail("cannot write", path_, system_reason(errno));
    write_all(descriptor, path_, bytes);
    if (!descriptor.close()) fail("cannot write", path_, system_reason(errno));
  }

  void discard() noexcept {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    temporary_.clear();
  }

  std::string path_;
  Target target_;
  std::string temporary_;
};

}  // namespace

void require_readable(const std::string& path) { static_cast<void>(files::open_to_read(path)); }

std::vector<std::byte> read_file(const std::string& path) {
  return files::read_to_end(files::open_to_read(path), path);
}

void write_file(const std::string& path, std::span<const std::byte> bytes) { Staged(path, bytes).appear(bytes); }

void write_file(const std::string& path, std::string_view text) { write_file(path, std::as_bytes(std::span(text))); }

void write_files(std::span<const FileContent> files) {
  std::set<std::string> targets;
  std::vector<Staged> staged;
  for (const FileContent& file : files) {
    const Target target = target_of(file.path);
    if (!target.in_place && !targets.insert(fs::weakly_canonical(target.file)).second) {
      throw InvalidArgument("write_files", "path", "one file for each path", file.path + " twice");
    }
    staged.emplace_back(file.path, file.bytes);
  }
  for (std::size_t i = 0; i < staged.size(); ++i) staged[i].appear(files[i].bytes);
}

void require_writable(const std::string& path) {
  const Target target = target_of(path);
  const std::string place = target.in_place ? target.file : directory_of(target.file);
  struct stat state{};
  if (::stat(place.c_str(), &state) != 0) fail("cannot write", path, system_reason(errno));
  if (!target.in_place && !S_ISDIR(state.st_mode)) fail("cannot write", path, system_reason(ENOTDIR));
  if (::access(place.c_str(), W_OK) != 0) fail("cannot write", path, system_reason(errno));
}

}  // namespace qkv
