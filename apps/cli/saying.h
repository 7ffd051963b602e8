// What a question says, on standard error.
#pragma once

#include <string>
#include <string_view>

#include "output.h"
#include "progress.h"
#include "qkv/api/saying.h"

namespace qkv::cli {

/// Cautions as lines of this command, "qkv lens".
[[nodiscard]] inline Saying saying_of(std::string_view command) {
  return {.caution = [command](const std::string& what) { complain(command, "careful: " + what); }};
}

/// The same, and on `line` what is done now.
[[nodiscard]] inline Saying saying_of(std::string_view command, Progress& line) {
  Saying saying = saying_of(command);
  saying.doing = [&line](const std::string& what) { line.show(what); };
  return saying;
}

}  // namespace qkv::cli
