#include "api/fields/listed.h"

namespace qkv {

std::string api_detail::listed(std::span<const std::string> words, std::string_view last) {
  std::string text;
  for (std::size_t n = 0; n < words.size(); ++n) {
    if (n > 0) text += n + 1 == words.size() ? " " + std::string(last) + " " : ", ";
    text += words[n];
  }
  return text;
}

}  // namespace qkv
