#include "train/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "files/descriptor.h"
#include "qkv/error.h"

namespace qkv::training {
namespace {

int opened(const std::string& directory) { return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

}  // namespace

DirectoryLock::DirectoryLock(const std::string& directory, const std::string& taken) : file_(opened(directory)) {
  if (file_ < 0) files::fail("cannot read", directory, files::system_reason(errno));
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(file_);
  throw FileError::saying(directory, taken);
}

DirectoryLock::~DirectoryLock() { ::close(file_); }

bool is_locked(const std::string& directory) {
  const int file = opened(directory);
  if (file < 0) return false;
  const bool is_free = ::flock(file, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;
  ::close(file);
  return !is_free;
}

}  // namespace qkv::training
