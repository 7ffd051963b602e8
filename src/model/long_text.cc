#include "model/long_text.h"

#include <algorithm>

namespace qkv::model_detail {

std::optional<std::string> seen_to_be_longer(const Tokenizer& tokenizer, std::string_view text, std::int64_t most) {
  constexpr std::int64_t kBytesOfToken = 8;
  constexpr std::int64_t kLeast = 4096;
  const std::int64_t begin = kLeast + kBytesOfToken * std::clamp<std::int64_t>(most, 0, std::ssize(text));
  if (begin >= std::ssize(text)) return std::nullopt;
  auto end = static_cast<std::size_t>(begin);
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not within a character
  const std::int64_t tokens = std::ssize(tokenizer.encode(text.substr(0, end)).ids);
  // A word that is cut may have other tokens than the whole one.
  constexpr std::int64_t kOfAWord = 1024;
  if (tokens <= 2 * most + kOfAWord) return std::nullopt;
  return std::to_string(text.size()) + " bytes, of which the first " + std::to_string(end) + " are " +
         std::to_string(tokens) + " tokens";
}

}  // namespace qkv::model_detail
