#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>

#include "core/ascii.h"
#include "files/descriptor.h"
#include "files/staged_file.h"
#include "files/unfinished.h"
#include "qkv/files.h"
#include "qkv/written_files.h"

namespace qkv {
namespace {

namespace fs = std::filesystem;

using files::Descriptor;
using files::directory_of;
using files::fail;
using files::system_reason;
using files::write_all;
using files::write_target_of;
using files::WriteTarget;

// A name in a directory that is there, without links, "." and "..".
fs::path place_of(const WriteTarget& target) {
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

// A file under its temporary name, or what is written in place once the others are there.
class Staged {
 public:
  Staged(const std::string& path, std::span<const std::byte> bytes) : path_(path), target_(write_target_of(path)) {
    if (target_.in_place) return;
    file_.emplace(path);
    file_->write(bytes);
    file_->finish();
  }

  void appear(std::span<const std::byte> bytes) {
    if (file_) return file_->appear();
    Descriptor descriptor(::open(target_.file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!descriptor.is_open()) fail("cannot write", path_, system_reason(errno));
    write_all(descriptor, path_, bytes);
    if (!descriptor.close()) fail("cannot write", path_, system_reason(errno));
  }

 private:
  std::string path_;
  WriteTarget target_;
  std::optional<files::StagedFile> file_;
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
    const WriteTarget target = write_target_of(file.path);
    if (!target.in_place && !targets.insert(place_of(target)).second) {
      throw InvalidArgument("write_files", "path", "one file for each path", file.path + " twice");
    }
    staged.emplace_back(file.path, file.bytes);
  }
  for (std::size_t i = 0; i < staged.size(); ++i) staged[i].appear(files[i].bytes);
}

bool is_same_place(const std::string& a, const std::string& b) {
  const WriteTarget first = write_target_of(a);
  const WriteTarget second = write_target_of(b);
  if (first.in_place || second.in_place) return false;
  std::error_code none;
  if (fs::equivalent(first.file, second.file, none)) return true;
  const fs::path one = place_of(first);
  const fs::path other = place_of(second);
  if (one == other) return true;
  const bool is_alike = core::small_letters(one.native()) == core::small_letters(other.native());
  return is_alike && ignores_case(one.parent_path());
}

void make_directory(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail("cannot make the directory", path, error.message());
}

void remove_unfinished_files() noexcept { files::unfinished::remove_all(); }

void require_writable(const std::string& path) {
  const WriteTarget target = write_target_of(path);
  const std::string place = target.in_place ? target.file : directory_of(target.file);
  struct stat state{};
  if (::stat(place.c_str(), &state) != 0) {
    fail("cannot write", path, errno == ENOENT ? "there is no directory " + place : system_reason(errno));
  }
  if (!target.in_place && !S_ISDIR(state.st_mode)) fail("cannot write", path, system_reason(ENOTDIR));
  if (::access(place.c_str(), W_OK) != 0) fail("cannot write", path, system_reason(errno));
}

}  // namespace qkv
