// The error of bytes that came from somewhere.
#pragma once

#include <string>
#include <string_view>

#include "qkv/error.h"

namespace qkv::files {

/// Throws Error("<source>: <reason>"); the source is a path, or the function that writes.
[[noreturn]] inline void fail(std::string_view source, const std::string& reason) {
  throw Error(std::string(source) + ": " + reason);
}

}  // namespace qkv::files
