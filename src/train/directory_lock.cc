#include "train/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "qkv/error.h"

namespace qkv::training {

DirectoryLock::DirectoryLock(const std::string& directory, const std::string& taken)
    : file_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (file_ < 0) throw Error("cannot read " + directory + ": " + std::generic_category().message(errno));
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(file_);
  throw Error(taken);
}

DirectoryLock::~DirectoryLock() { ::close(file_); }

}  // namespace qkv::training
