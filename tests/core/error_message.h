// What a call that must fail says.
#pragma once

#include <string>

#include "qkv/error.h"

namespace qkv {

/// The message of the InvalidArgument that `call` throws, or why there is none.
template <class Call>
std::string error_message(const Call& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace qkv
