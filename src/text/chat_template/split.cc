// Cutting strings, each part with its marks.
#include "text/characters.h"
#include "text/chat_template/letters.h"
#include "text/chat_template/methods.h"

namespace qkv::text::jinja {
namespace {

std::vector<MarkedText> words_of(const MarkedText& text, std::int64_t most) {
  std::vector<MarkedText> words;
  const std::string_view bytes = text.bytes();
  std::size_t at = stripped(bytes, Sides::left).begin;
  while (at < bytes.size()) {
    if (most >= 0 && static_cast<std::int64_t>(words.size()) == most) {
      words.push_back(text.slice(at, bytes.size()));
      return words;
    }
    std::size_t end = at;
    while (end < bytes.size()) {
      const ReadCharacter character = read_character(bytes, end);
      if (is_python_space(character.value)) break;
      end += character.length;
    }
    words.push_back(text.slice(at, end));
    at = end + stripped(bytes.substr(end), Sides::left).begin;
  }
  return words;
}

}  // namespace

std::vector<MarkedText> split(Budget& budget, const MarkedText& text, const MarkedText* separator, std::int64_t most) {
  budget.make(text.size());
  if (separator == nullptr) return words_of(text, most);
  if (separator->size() == 0) throw Fault("split: expected a separator, got an empty string");
  budget.search(text.size(), separator->size());
  std::vector<MarkedText> parts;
  std::size_t at = 0;
  while (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
    const std::size_t end = text.bytes().find(separator->bytes(), at);
    if (end == std::string::npos) break;
    parts.push_back(text.slice(at, end));
    at = end + separator->size();
  }
  parts.push_back(text.slice(at, text.size()));
  return parts;
}

MarkedText replaced(Budget& budget, const MarkedText& text, const MarkedText& old, const MarkedText& now,
                    std::int64_t most) {
  budget.search(text.size(), old.size());
  MarkedText made;
  std::int64_t count = 0;
  std::size_t from = 0;
  std::size_t at = 0;
  while (most < 0 || count < most) {
    const std::size_t found = text.bytes().find(old.bytes(), at);
    if (found == std::string::npos) break;
    budget.make(now.size());
    made.append(text, from, found);
    made.append(now);
    from = found + old.size();
    ++count;
    if (old.size() == 0 && found == text.size()) break;
    at = old.size() > 0 ? from : found + read_character(text.bytes(), found).length;
  }
  made.append(text, from, text.size());
  return made;
}

std::vector<MarkedText> lines_of(const MarkedText& text) {
  constexpr std::u32string_view kEnds = U"\n\r\v\f\x1C\x1D\x1E\u0085\u2028\u2029";
  std::vector<MarkedText> lines;
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size();) {
    const ReadCharacter character = read_character(text.bytes(), at);
    const std::size_t end = at;
    at += character.length;
    if (kEnds.find(character.value) == std::u32string_view::npos) continue;
    lines.push_back(text.slice(from, end));
    if (character.value == U'\r' && at < text.size() && text.bytes()[at] == '\n') ++at;
    from = at;
  }
  if (from < text.size()) lines.push_back(text.slice(from, text.size()));
  return lines;
}

}  // namespace qkv::text::jinja
