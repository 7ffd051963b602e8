// What a call that must fail says.
#pragma once

#include <string>

#include "qkv/error.h"

namespace qkv {

/// The message of the Expected that `call` throws, or why there is none.
template <class Expected = InvalidArgument, class Call>
std::string error_message(const Call& call) {
  try {
    call();
  } catch (const Expected& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace qkv
