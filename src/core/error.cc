#include "qkv/error.h"

#include "core/shortened.h"

namespace qkv {
namespace {

// An empty text would not be seen.
std::string shown(std::string_view got) { return got.empty() ? "\"\"" : core::shortened(got); }

std::string compose(std::string_view function, std::string_view argument, std::string_view expected,
                    std::string_view got) {
  std::string text;
  text.append(function).append(": ").append(argument).append(": expected ").append(expected);
  return text.append(", got ").append(got);
}

}  // namespace

InvalidArgument::InvalidArgument(std::string_view function, std::string_view argument, std::string_view expected,
                                 std::string_view got)
    : Error(compose(function, core::shortened(argument), expected, shown(got))),
      function_(function),
      argument_(core::shortened(argument)),
      expected_(expected),
      got_(shown(got)) {}

}  // namespace qkv
