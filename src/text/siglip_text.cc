#include "text/siglip_text.h"

#include "text/characters.h"
#include "text/normalizer.h"

namespace qkv::text {
namespace {

constexpr char32_t kMarkCharacter = 0x2581;

bool is_ascii_punctuation(char32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

}  // namespace

AlignedText siglip_text(const AlignedText& whole, std::size_t begin, std::size_t end, bool lowers, bool is_first) {
  AlignedText text;
  text.append(whole, begin, end);
  if (lowers) lower(text);
  AlignedText clean;
  clean.reserve(text.size() + kBlankMark.size());
  if (is_first && !text.empty()) clean.append(kBlankMark, text.origin(0));
  bool has_blank = false;
  const std::string& from = text.text();
  for (std::size_t at = 0; at < from.size(); at += character_length(from[at])) {
    const char32_t c = character_at(from, at);
    if (is_ascii_punctuation(c)) continue;
    if (is_space(c) || c == kMarkCharacter) {
      has_blank = true;
      continue;
    }
    if (has_blank && !clean.empty()) clean.append(" ", text.origin(at));
    has_blank = false;
    clean.append(text, at, at + character_length(from[at]));
  }
  return clean;
}

}  // namespace qkv::text
