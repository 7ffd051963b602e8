#include "files/staged_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "files/unfinished.h"

namespace qkv::files {
namespace {

std::string temporary_beside(const std::string& file) {
  static std::atomic<unsigned> serial{0};
  return directory_of(file) + "/.qkv-partial-" + std::to_string(::getpid()) + "-" + std::to_string(serial++);
}

// The name itself is on the disk when the directory is; some file systems do not offer that, which is no failure.
void sync_directory_of(const std::string& file) {
  const Descriptor directory(::open(directory_of(file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.is_open()) static_cast<void>(::fsync(directory.number()));
}

}  // namespace

WriteTarget write_target_of(const std::string& path) {
  namespace fs = std::filesystem;
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
  const std::filesystem::path parent = std::filesystem::path(file).parent_path();
  return parent.empty() ? "." : parent.native();
}

void write_all(const Descriptor& descriptor, const std::string& path, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write", path, system_reason(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

StagedFile::StagedFile(const std::string& path) : path_(path), target_(write_target_of(path)), descriptor_(create()) {}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      slot_(std::exchange(other.slot_, std::nullopt)),
      descriptor_(std::move(other.descriptor_)) {}

// Exclusive, so that it opens neither another writer's file nor a planted link. The kernel applies the umask to 0666.
int StagedFile::create() {
  if (target_.in_place) fail("cannot write", path_, "it is a device or a pipe, not a file");
  for (;;) {
    temporary_ = temporary_beside(target_.file);
    slot_ = unfinished::add(temporary_);  // before it is there, so that there is no moment without
    const int number = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (number >= 0) return number;
    const int reason = errno;
    forget();
    if (reason == EEXIST || reason == EINTR) continue;
    fail("cannot write", path_, system_reason(reason));
  }
}

void StagedFile::write(std::span<const std::byte> bytes) { write_all(descriptor_, path_, bytes); }

void StagedFile::finish() {
  if (target_.permissions) static_cast<void>(::fchmod(descriptor_.number(), *target_.permissions));
  if (::fsync(descriptor_.number()) != 0 || !descriptor_.close()) fail("cannot write", path_, system_reason(errno));
}

void StagedFile::appear() {
  if (::rename(temporary_.c_str(), target_.file.c_str()) != 0) fail("cannot write", path_, system_reason(errno));
  forget();
  sync_directory_of(target_.file);
}

void StagedFile::discard() noexcept {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  forget();
}

void StagedFile::forget() noexcept {
  if (slot_) unfinished::forget(*slot_);
  slot_.reset();
  temporary_.clear();
}

StagedFolder::StagedFolder(std::string path) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  std::error_code none;
  const auto state = std::filesystem::symlink_status(path_, none);
  if (std::filesystem::exists(state) &&
      !(std::filesystem::is_directory(state) && std::filesystem::is_empty(path_, none))) {
    fail("cannot write", path_, "it is there already, and a folder is not replaced");
  }
  for (;;) {
    temporary_ = temporary_beside(path_);
    const auto slot = unfinished::add(temporary_);
    if (slot) slots_.push_back(*slot);
    if (::mkdir(temporary_.c_str(), 0777) == 0) return;
    const int reason = errno;
    forget();
    if (reason != EEXIST) fail("cannot write", path_, system_reason(reason));
  }
}

StagedFolder::~StagedFolder() {
  std::error_code none;
  if (!temporary_.empty()) std::filesystem::remove_all(temporary_, none);
  forget();
}

std::string StagedFolder::add(const std::string& name) {
  for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    const std::string folder = temporary_ + "/" + name.substr(0, slash);
    if (::mkdir(folder.c_str(), 0777) == 0) note(folder);
  }
  note(temporary_ + "/" + name);
  return temporary_ + "/" + name;
}

void StagedFolder::note(const std::string& name) {
  if (const auto slot = unfinished::add(name)) slots_.push_back(*slot);
}

void StagedFolder::appear() {
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot write", path_, system_reason(errno));
  temporary_.clear();
  forget();
  sync_directory_of(path_);
}

void StagedFolder::forget() noexcept {
  for (const std::size_t slot : slots_) unfinished::forget(slot);
  slots_.clear();
}

}  // namespace qkv::files
