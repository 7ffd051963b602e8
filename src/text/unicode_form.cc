// The four forms of UAX 15. What is decomposed and composed says utf8proc; the order of characters, and what each does
// to the alignment, are those of the `unicode-normalization-alignments` crate.
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "text/normalizer.h"

namespace qkv::text {
namespace {

struct Decomposed {
  Rewritten written;
  int order = 0;  // the canonical combining class; 0 is a starter
};

int combining_class(char32_t character) noexcept {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(character))->combining_class;
}

utf8proc_option_t both(utf8proc_option_t a, utf8proc_option_t b) noexcept {
  return static_cast<utf8proc_option_t>(a | b);  // NOLINT(clang-analyzer-optin.core.EnumCastOutOfRange): bits of a set
}

void decompose_into(std::vector<Decomposed>& all, char32_t character, bool compatibility) {
  constexpr char32_t kAsciiEnd = 0x80;
  if (character < kAsciiEnd) {
    all.push_back({.written = {.character = character}});
    return;
  }
  constexpr std::size_t kMost = 32;  // the longest compatibility decomposition has 18 characters
  std::array<utf8proc_int32_t, kMost> parts{};
  int boundary = 0;
  const auto options = compatibility ? both(UTF8PROC_DECOMPOSE, UTF8PROC_COMPAT) : UTF8PROC_DECOMPOSE;
  const auto count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(character), parts.data(), kMost, options, &boundary);
  for (utf8proc_ssize_t n = 0; n < count; ++n) {
    const auto part = static_cast<char32_t>(parts[static_cast<std::size_t>(n)]);
    all.push_back({.written = {.character = part, .change = n > 0 ? 1 : 0}, .order = combining_class(part)});
  }
}

// Those of one order as they came. Not by stable_sort: Clang warns of libstdc++ 12's.
void sort_by_order(std::span<Decomposed> marks) {
  const auto lower = [](const Decomposed& a, const Decomposed& b) { return a.order < b.order; };
  if (std::ranges::is_sorted(marks, lower)) return;
  const std::vector<Decomposed> before(marks.begin(), marks.end());
  std::vector<std::size_t> places(marks.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::sort(places, [&](std::size_t a, std::size_t b) {
    return before[a].order != before[b].order ? before[a].order < before[b].order : a < b;
  });
  std::ranges::transform(places, marks.begin(), [&](std::size_t place) { return before[place]; });
}

void order_marks(std::vector<Decomposed>& all) {
  for (auto at = all.begin(); at != all.end();) {
    const auto marks = std::find_if(at, all.end(), [](const Decomposed& next) { return next.order != 0; });
    const auto end = std::find_if(marks, all.end(), [](const Decomposed& next) { return next.order == 0; });
    sort_by_order({marks, end});
    at = end;
  }
}

// The one character that two compose to, or 0.
char32_t composed_of(char32_t first, char32_t second) noexcept {
  constexpr char32_t kAsciiEnd = 0x80;
  if (second < kAsciiEnd) return 0;
  std::array<utf8proc_int32_t, 3> pair = {static_cast<utf8proc_int32_t>(first), static_cast<utf8proc_int32_t>(second)};
  const auto count = utf8proc_normalize_utf32(pair.data(), 2, both(UTF8PROC_COMPOSE, UTF8PROC_STABLE));
  return count == 1 ? static_cast<char32_t>(pair[0]) : 0;
}

std::vector<Rewritten> compose(const std::vector<Decomposed>& all) {
  std::vector<Rewritten> written;
  written.reserve(all.size());
  std::size_t starter = 0;  // in `written`
  bool has_starter = false;
  int last = 0;  // the class of the last mark behind the starter that stayed; 0: none did
  for (const Decomposed& next : all) {
    const bool blocked = last != 0 && last >= next.order;
    if (has_starter && !blocked) {
      Rewritten& first = written[starter];
      if (const char32_t one = composed_of(first.character, next.written.character); one != 0) {
        first = {.character = one, .change = first.change + next.written.change - 1};
        continue;
      }
    }
    written.push_back(next.written);
    if (next.order == 0) {
      starter = written.size() - 1;
      has_starter = true;
      last = 0;
    } else if (has_starter) {
      last = next.order;
    }
  }
  return written;
}

class UnicodeNormalizer final : public Normalizer {
 public:
  explicit UnicodeNormalizer(UnicodeForm form) : form_(form) {}
  void apply(AlignedText& text) const override { normalize(text, form_); }

 private:
  UnicodeForm form_;
};

}  // namespace

void normalize(AlignedText& text, UnicodeForm form) {
  if (text.is_ascii()) return;
  const bool compatibility = form == UnicodeForm::nfkc || form == UnicodeForm::nfkd;
  std::vector<Decomposed> all;
  all.reserve(text.size());
  for_each_character(text.text(), [&](char32_t c) { decompose_into(all, c, compatibility); });
  order_marks(all);
  if (form == UnicodeForm::nfc || form == UnicodeForm::nfkc) return text.rewrite(compose(all));
  std::vector<Rewritten> written;
  written.reserve(all.size());
  for (const Decomposed& next : all) written.push_back(next.written);
  text.rewrite(written);
}

NormalizerPtr unicode_normalizer(UnicodeForm form) { return std::make_shared<UnicodeNormalizer>(form); }

}  // namespace qkv::text
