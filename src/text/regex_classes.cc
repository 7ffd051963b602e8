// The classes of Oniguruma written out, which mean something else in PCRE2 and in the regular expressions of browsers.
#include "text/regex.h"

namespace qkv::text {
namespace {

constexpr std::string_view kSpace = R"(\t-\r\x{85}\p{Z})";
constexpr std::string_view kWord =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})";

// What a class stands for outside of brackets, and inside of them; empty: as it is.
std::string class_of(char letter, bool in_brackets) {
  const bool negated = letter == 'S' || letter == 'W';
  const std::string_view members = letter == 's' || letter == 'S'   ? kSpace
                                   : letter == 'w' || letter == 'W' ? kWord
                                                                    : std::string_view();
  if (members.empty() || (in_brackets && negated)) return {};
  if (in_brackets) return std::string(members);
  return (negated ? "[^" : "[") + std::string(members) + "]";
}

}  // namespace

std::string in_pcre2(std::string_view pattern) {
  std::string changed;
  bool in_brackets = false;
  for (std::size_t n = 0; n < pattern.size(); ++n) {
    const char c = pattern[n];
    if (c == '\\' && n + 1 < pattern.size()) {
      const char letter = pattern[++n];
      const std::string members = class_of(letter, in_brackets);
      changed += members.empty() ? std::string{c, letter} : members;
      continue;
    }
    const bool first_bracket_is_plain = in_brackets && c == '[' && pattern.substr(n, 2) != "[:";
    if (c == '[' && !in_brackets) in_brackets = true;
    if (c == ']' && in_brackets) in_brackets = false;
    if (first_bracket_is_plain) changed += '\\';
    changed += c;
    if (c == '[' && in_brackets && pattern.substr(n, 2) == "[:") {
      const std::size_t close = pattern.find(":]", n + 2);
      if (close == std::string_view::npos) continue;
      changed.append(pattern, n + 1, close + 1 - n);
      n = close + 1;
    }
  }
  return changed;
}

}  // namespace qkv::text
