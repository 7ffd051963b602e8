#include "view/refuse.h"

namespace qkv::view_detail {

void refuse(std::string_view field, std::string_view expected, std::string_view got) {
  throw InvalidArgument("request", field, expected, got);
}

void refuse_as(std::string_view field, const InvalidArgument& error) {
  constexpr std::string_view kExpected = ": expected ";
  constexpr std::string_view kGot = ", got ";
  const std::string_view text = error.what();
  const std::size_t expected = text.find(kExpected);
  const std::size_t got = expected == std::string_view::npos ? expected : text.find(kGot, expected);
  if (got == std::string_view::npos) refuse(field, "a value with a meaning", text);
  const std::size_t begin = expected + kExpected.size();
  refuse(field, text.substr(begin, got - begin), text.substr(got + kGot.size()));
}

}  // namespace qkv::view_detail
