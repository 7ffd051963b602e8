#include "text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <utility>

#include "qkv/error.h"
#include "text/characters.h"

namespace qkv::text {
namespace {

struct MatchDataFree {
  void operator()(pcre2_match_data* data) const noexcept { pcre2_match_data_free(data); }
};
struct MatchContextFree {
  void operator()(pcre2_match_context* context) const noexcept { pcre2_match_context_free(context); }
};

std::string message_of(int error) {
  constexpr std::size_t kLongest = 256;
  std::array<PCRE2_UCHAR, kLongest> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

struct Regex::Code {
  explicit Code(pcre2_code* compiled) : value(compiled) {}
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() { pcre2_code_free(value); }
  pcre2_code* value;
};

Regex::Regex(const std::string& pattern, const std::string& place) : place_(place) {
  const std::string expected = "expected a regular expression, got \"" + pattern + "\": ";
  std::string ours;
  try {
    ours = in_pcre2(pattern);
  } catch (const Error& error) {
    throw FileError(place, expected + error.what());
  }
  int error = 0;
  std::size_t offset = 0;
  constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
  pcre2_code* compiled =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(ours.data()), ours.size(), kOptions, &error, &offset, nullptr);
  if (compiled == nullptr) {
    throw FileError(place, expected + message_of(error));
  }
  pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);  // where it cannot, matches are interpreted
  code_ = std::make_shared<const Code>(compiled);
}

void Regex::find_all(std::string_view valid, std::vector<Part>& parts) const {
  const std::unique_ptr<pcre2_match_data, MatchDataFree> data(pcre2_match_data_create(1, nullptr));
  const std::unique_ptr<pcre2_match_context, MatchContextFree> context(pcre2_match_context_create(nullptr));
  constexpr std::uint32_t kSteps = 1'000'000;
  pcre2_set_match_limit(context.get(), kSteps);
  const auto* const subject = reinterpret_cast<PCRE2_SPTR>(valid.data());
  const auto match_from = [&](std::size_t at) {
    int found = pcre2_match(code_->value, subject, valid.size(), at, PCRE2_NO_UTF_CHECK, data.get(), context.get());
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
      found = pcre2_match(code_->value, subject, valid.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data.get(),
                          context.get());
    }
    if (found < 0 && found != PCRE2_ERROR_NOMATCH) throw FileError(place_, message_of(found));
    return found >= 0;
  };
  const std::size_t* const ends = pcre2_get_ovector_pointer(data.get());
  const auto place = [](std::size_t at) { return static_cast<std::uint32_t>(at); };
  std::size_t covered = 0;  // the end of the last match
  bool some = false;
  for (std::size_t at = 0; at <= valid.size() && match_from(at);) {
    const auto [begin, end] = std::pair(ends[0], ends[1]);
    if (begin == end && some && end == covered) {  // an empty match right behind the last one
      at += at < valid.size() ? character_length(valid[at]) : 1;
      continue;
    }
    if (end < begin || begin < covered) {
      throw FileError(place_, "expected matches that go forward, got \\K or the like");
    }
    if (begin != covered) parts.push_back({.begin = place(covered), .end = place(begin)});
    parts.push_back({.begin = place(begin), .end = place(end), .matches = true});
    covered = end;
    some = true;
    at = end;
  }
  if (covered != valid.size()) parts.push_back({.begin = place(covered), .end = place(valid.size())});
}

}  // namespace qkv::text
