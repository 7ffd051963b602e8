#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "core/ascii.h"
#include "files/descriptor.h"
#include "qkv/files.h"
#include "qkv/written_files.h"

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

// A name in a directory that is there, without links, "." and "..".
fs::path place_of(const Target& target) {
  std::error_code none;
  const fs::path whole = fs::absolute(target.file, none);
  const fs::path place = fs::weakly_canonical(whole, none);
  return place.empty() ? whole.lexically_normal() : place;
}

// Whether the file system of a directory finds a file by other letters.
bool ignores_case(const fs::path& directory) {
  std::error_code none;
  std::string name = ".qkv-partial-case-" + std::to_string(::getpid());
  const Descriptor made(::open((directory / name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!made.is_open()) return false;
  const bool found = fs::exists(directory / (".QKV" + name.substr(4)), none);
  ::unlink((directory / name).c_str());
  return found;
}

std::string directory_of(const std::string& file) {
  const fs::path parent = fs::path(file).parent_path();
  return parent.empty() ? "." : parent.native();
}

// Names of the temporary files that are there, for a signal handler: slots of fixed size, since a handler can neither
// allocate nor lock. A file that finds no slot is left if a signal comes.
class Unfinished {
 public:
  /// The slot, or none.
  static std::optional<std::size_t> add(const std::string& name) noexcept {
    if (name.size() >= kLongest) return std::nullopt;
    for (std::size_t n = 0; n < slots_.size(); ++n) {
      State free = State::free;
      if (!slots_[n].state.compare_exchange_strong(free, State::written)) continue;
      std::ranges::copy(name, slots_[n].name.begin());
      slots_[n].name[name.size()] = '\0';
      slots_[n].state = State::taken;
      return n;
    }
    return std::nullopt;
  }
  static void forget(std::size_t slot) noexcept { slots_[slot].state = State::free; }
  static void remove_all() noexcept {
    for (const Slot& slot : slots_) {
      if (slot.state == State::taken) ::unlink(slot.name.data());
    }
  }

 private:
  static constexpr std::size_t kLongest = 4096;
  enum class State : std::uint8_t { free, written, taken };
  struct Slot {
    std::atomic<State> state = State::free;
    std::array<char, kLongest> name{};
  };
  static_assert(std::atomic<State>::is_always_lock_free);

  static std::array<Slot, 64> slots_;
};

std::array<Unfinished::Slot, 64> Unfinished::slots_;

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
        temporary_(std::exchange(other.temporary_, {})),
        slot_(std::exchange(other.slot_, std::nullopt)) {}
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
    forget();
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
      slot_ = Unfinished::add(temporary_);  // before it is there, so that there is no moment without
      const int number = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (number >= 0) return number;
      const int reason = errno;
      forget();
      if (reason == EEXIST || reason == EINTR) continue;
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
    forget();
  }

  void forget() noexcept {
    if (slot_) Unfinished::forget(*slot_);
    slot_.reset();
    temporary_.clear();
  }

  std::string path_;
  Target target_;
  std::string temporary_;
  std::optional<std::size_t> slot_;
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
    if (!target.in_place && !targets.insert(place_of(target)).second) {
      throw InvalidArgument("write_files", "path", "one file for each path", file.path + " twice");
    }
    staged.emplace_back(file.path, file.bytes);
  }
  for (std::size_t i = 0; i < staged.size(); ++i) staged[i].appear(files[i].bytes);
}

bool is_same_place(const std::string& a, const std::string& b) {
  const Target first = target_of(a);
  const Target second = target_of(b);
  if (first.in_place || second.in_place) return false;
  std::error_code none;
  if (fs::equivalent(first.file, second.file, none)) return true;
  const fs::path one = place_of(first);
  const fs::path other = place_of(second);
  if (one == other) return true;
  const bool is_alike = core::small_letters(one.native()) == core::small_letters(other.native());
  return is_alike && ignores_case(one.parent_path());
}

void remove_unfinished_files() noexcept { Unfinished::remove_all(); }

void require_writable(const std::string& path) {
  const Target target = target_of(path);
  const std::string place = target.in_place ? target.file : directory_of(target.file);
  struct stat state{};
  if (::stat(place.c_str(), &state) != 0) fail("cannot write", path, system_reason(errno));
  if (!target.in_place && !S_ISDIR(state.st_mode)) fail("cannot write", path, system_reason(ENOTDIR));
  if (::access(place.c_str(), W_OK) != 0) fail("cannot write", path, system_reason(errno));
}

}  // namespace qkv
