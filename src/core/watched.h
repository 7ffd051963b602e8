// The watch of a call, for the loops below it.
#pragma once

#include "qkv/cancel.h"

namespace qkv::core {

/// While it lives, look() on this thread asks `watch`, unless that is empty: then an outer one stays.
class Watched {
 public:
  explicit Watched(const CallWatch& watch);
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched();

 private:
  const CallWatch* outer_;
};

/// Throws Cancelled if this thread's watch says stop. Cheap where there is none.
void look();

}  // namespace qkv::core
