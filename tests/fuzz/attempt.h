// Reading what may be malformed.
#pragma once

#include <cstdlib>

#include "qkv/error.h"

namespace qkv::fuzz {

/// Calls `read`, which may throw any Error but InvalidArgument: a malformed file is never the caller's misuse.
template <class Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const InvalidArgument&) {
    std::abort();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): malformed, or what qkv does not read
  }
}

}  // namespace qkv::fuzz
