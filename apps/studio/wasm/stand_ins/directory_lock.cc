// A page's engine works in no directory, and nobody beside it.
#include "train/directory_lock.h"

namespace qkv::training {

bool is_locked(const std::string& /*directory*/) { return false; }

}  // namespace qkv::training
