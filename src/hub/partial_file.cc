#include "hub/partial_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace qkv::hub {
namespace {

[[noreturn]] void cannot_write(const std::string& path, int number) {
  throw FileError::saying(path, "cannot write " + path + ": " + std::generic_category().message(number));
}

std::string partial_name(const HubFile& file) {
  std::string name = file.name;
  std::ranges::replace(name, '/', '-');
  return ".qkv-partial-" + file.hash.substr(0, 16) + "-" + name;
}

}  // namespace

PartialFile::PartialFile(const std::string& folder, const HubFile& file)
    : path_(folder + "/" + partial_name(file)), file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (file_ < 0) cannot_write(path_, errno);
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(file_);
    throw FileError::saying(folder, "another qkv fetch is at work in " + folder);
  }
  size_ = ::lseek(file_, 0, SEEK_END);
  if (size_ > file.size) clear();
}

PartialFile::~PartialFile() { ::close(file_); }

void PartialFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(path_, errno);
    size_ += written;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void PartialFile::clear() {
  if (::ftruncate(file_, 0) != 0 || ::lseek(file_, 0, SEEK_SET) != 0) cannot_write(path_, errno);
  size_ = 0;
}

void PartialFile::remove() { ::unlink(path_.c_str()); }

void PartialFile::finish(const std::string& path) {
  if (::fsync(file_) != 0 || std::rename(path_.c_str(), path.c_str()) != 0) cannot_write(path, errno);
}

}  // namespace qkv::hub
