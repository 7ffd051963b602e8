#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "qkv/error.h"
#include "qkv/text/read_tokenizer.h"

namespace qkv {

std::string_view require_utf8(std::string_view bytes, const std::string& source) {
  using namespace std::string_view_literals;
  constexpr std::array<std::pair<std::string_view, const char*>, 4> kMarks = {
      {{"\xFF\xFE\0\0"sv, "UTF-32"}, {"\0\0\xFE\xFF"sv, "UTF-32"}, {"\xFF\xFE"sv, "UTF-16"}, {"\xFE\xFF"sv, "UTF-16"}}};
  constexpr const char* kExpected = "expected a text in UTF-8, got ";
  for (const auto& [mark, name] : kMarks) {
    if (bytes.starts_with(mark)) throw FileError(source, std::string(kExpected) + name + "; save it as UTF-8");
  }
  const auto zeros = static_cast<std::size_t>(std::ranges::count(bytes, '\0'));
  if (zeros > bytes.size() / 4) {
    throw FileError(source, kExpected + std::to_string(zeros) + " zero bytes among " + std::to_string(bytes.size()) +
                                ", as UTF-16 has them");
  }
  if (bytes.starts_with("\xEF\xBB\xBF"sv)) bytes.remove_prefix(3);
  return bytes;
}

}  // namespace qkv
