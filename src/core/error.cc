#include "qkv/error.h"

namespace qkv {
namespace {

std::string compose(std::string_view function, std::string_view argument, std::string_view expected,
                    std::string_view got) {
  std::string text;
  text.append(function).append(": ").append(argument).append(": expected ").append(expected);
  return text.append(", got ").append(got);
}

}  // namespace

InvalidArgument::InvalidArgument(std::string_view function, std::string_view argument, std::string_view expected,
                                 std::string_view got)
    : Error(compose(function, argument, expected, got)),
      function_(function),
      argument_(argument),
      expected_(expected),
      got_(got) {}

}  // namespace qkv
