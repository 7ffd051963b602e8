// Regular expressions and classes of characters by those that every browser has: apps/studio/web/src/worker/unicode.ts.
#include <utf8proc.h>

#include <cwctype>

#include "qkv/error.h"
#include "runtime/page.h"
#include "text/regex.h"

namespace {

// Puts the bytes at which each match begins and ends into `bounds`, which has room for 2 * (bytes + 1). Returns how
// many matches there are, or -1 for a pattern that is none.
extern "C" QKV_IMPORT("find_all") int qkv_find_all(const char* pattern, std::size_t pattern_bytes, const char* text,
                                                   std::size_t bytes, std::uint32_t* bounds);
// As utf8proc counts them.
extern "C" QKV_IMPORT("category") int qkv_category(std::int32_t character);
extern "C" QKV_IMPORT("lower_case") std::int32_t qkv_lower_case(std::int32_t character);

}  // namespace

extern "C" utf8proc_category_t utf8proc_category(utf8proc_int32_t character) {
  return static_cast<utf8proc_category_t>(qkv_category(character));
}
extern "C" utf8proc_int32_t utf8proc_tolower(utf8proc_int32_t character) { return qkv_lower_case(character); }
// Of filters of chat templates alone, of which no model of the page has one: the few letters with a form for titles
// have their upper case.
extern "C" utf8proc_int32_t utf8proc_toupper(utf8proc_int32_t character) {
  return static_cast<utf8proc_int32_t>(std::towupper(static_cast<std::wint_t>(character)));
}
extern "C" utf8proc_int32_t utf8proc_totitle(utf8proc_int32_t character) { return utf8proc_toupper(character); }

namespace qkv::text {

struct Regex::Code {
  std::string pattern;
};

Regex::Regex(const std::string& pattern, const std::string& place)
    : code_(std::make_shared<const Code>(in_pcre2(pattern))), place_(place) {}

void Regex::find_all(std::string_view valid, std::vector<Part>& parts) const {
  std::vector<std::uint32_t> bounds(2 * (valid.size() + 1));
  const std::string& pattern = code_->pattern;
  const int matches = qkv_find_all(pattern.data(), pattern.size(), valid.data(), valid.size(), bounds.data());
  if (matches < 0) throw Error(place_ + ": expected a regular expression that browsers have, got \"" + pattern + "\"");
  std::uint32_t covered = 0;
  for (std::size_t n = 0; n < static_cast<std::size_t>(matches); ++n) {
    const std::uint32_t begin = bounds[2 * n];
    const std::uint32_t end = bounds[2 * n + 1];
    if (begin != covered) parts.push_back({.begin = covered, .end = begin});
    parts.push_back({.begin = begin, .end = end, .matches = true});
    covered = end;
  }
  if (covered != valid.size()) parts.push_back({.begin = covered, .end = static_cast<std::uint32_t>(valid.size())});
}

}  // namespace qkv::text
