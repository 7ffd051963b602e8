// Calls that can be stopped while they run.
#pragma once

#include <cstdint>
#include <functional>

#include "qkv/error.h"

namespace qkv {

enum class Proceed : std::uint8_t { go_on, stop };

/// A watch returned `stop`.
class Cancelled : public Error {
 public:
  using Error::Error;
};

/// Asked now and then during a call, only by the thread that made it, between tasks of some milliseconds: `stop` ends
/// the call with Cancelled, an exception ends it with that. What the call was writing is then unfinished.
using CallWatch = std::function<Proceed()>;

}  // namespace qkv
