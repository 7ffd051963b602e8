#include "model/growing_text.h"

#include <algorithm>
#include <array>

namespace qkv {
namespace {

constexpr std::string_view kReplaced = "\xEF\xBF\xBD";  // U+FFFD, for a character of which bytes are missing
constexpr std::size_t kLongestCharacter = 4;
constexpr std::size_t kBefore = 8;  // tokens of the prompt's end, by which a decoder sees where a text goes on

}  // namespace

bool is_special_token(const Tokenizer& tokenizer, std::int32_t token) {
  const std::array one = {token};
  return tokenizer.decode(one).empty() && !tokenizer.decode(one, SpecialTokens::with).empty();
}

GrowingText::GrowingText(const Tokenizer& tokenizer, const std::vector<std::string>& stops,
                         std::span<const std::int32_t> prompt)
    : tokenizer_(tokenizer), stops_(stops), prompt_(std::min(prompt.size(), kBefore)) {
  const std::span<const std::int32_t> end = prompt.last(prompt_);
  all_.assign(end.begin(), end.end());
  before_ = tokenizer_.decode(all_);
  before_marked_ = tokenizer_.decode(all_, SpecialTokens::with);
}

std::string GrowingText::add(std::int32_t token) {
  all_.push_back(token);
  text_ = behind_prompt(all_.size(), SpecialTokens::without);
  const bool is_special = !stops_.empty() && is_special_token(tokenizer_, token);
  if (is_special || !special_.empty()) marked_ = behind_prompt(all_.size(), SpecialTokens::with);
  if (is_special) special_.push_back(last_mark(token));
  for (const std::string& stop : stops_) {
    end_at(text_.find(stop));
    const std::size_t place = special_.empty() ? std::string::npos : marked_place(stop);
    if (place != std::string::npos) end_at(shown_before(place));
  }
  return said_up_to(has_stopped_ ? end_ : text_.size() - uncertain());
}

WrittenText GrowingText::written(WriteEnd end) const {
  return {.text = has_stopped_ ? text_.substr(0, end_) : text_,
          .tokens = {all_.begin() + static_cast<std::ptrdiff_t>(prompt_), all_.end()},
          .end = has_stopped_ ? WriteEnd::stop : end};
}

void GrowingText::end_at(std::size_t place) noexcept {
  if (place == std::string::npos || place >= end_) return;
  end_ = place;
  has_stopped_ = true;
}

// Where a stop stands that cuts no special token; npos if it stands nowhere so.
std::size_t GrowingText::marked_place(const std::string& stop) const {
  std::size_t place = marked_.find(stop);
  const auto is_cut = [&](const Span& token) {
    const std::size_t end = place + stop.size();
    const bool is_apart = end <= token.begin || place >= token.end;
    return !is_apart && (place > token.begin || end < token.end);
  };
  while (place != std::string::npos && std::ranges::any_of(special_, is_cut)) place = marked_.find(stop, place + 1);
  return place;
}

// Where the last token stands, without what a decoder puts between tokens.
GrowingText::Span GrowingText::last_mark(std::int32_t token) const {
  const std::array one = {token};
  const std::size_t end = marked_.size();
  return {.begin = end - std::min(end, tokenizer_.decode(one, SpecialTokens::with).size()), .end = end};
}

// Of the first `count` tokens. A decoder may change what stands at the beginning of a text, so the prompt's end is
// found in the whole.
std::string GrowingText::behind_prompt(std::size_t count, SpecialTokens special) const {
  const std::string& before = special == SpecialTokens::with ? before_marked_ : before_;
  const std::span<const std::int32_t> tokens = std::span(all_).first(count);
  const std::string whole = tokenizer_.decode(tokens, special);
  if (prompt_ > 0 && whole.starts_with(before)) return whole.substr(before.size());
  return tokenizer_.decode(tokens.subspan(prompt_), special);
}

// How much is shown of what stands before a place of the text with special tokens.
std::size_t GrowingText::shown_before(std::size_t place) const {
  std::size_t begin = 0;
  for (std::size_t count = prompt_; count < all_.size(); ++count) {
    const std::size_t end = behind_prompt(count + 1, SpecialTokens::with).size();
    if (end > place) {
      const std::size_t shown = behind_prompt(count, SpecialTokens::without).size();
      const std::size_t part = is_special_token(tokenizer_, all_[count]) ? 0 : place - std::min(begin, place);
      return std::min(shown + part, text_.size());
    }
    begin = end;
  }
  return text_.size();
}

// Bytes at the end that are the beginning of a stop, more than `held` of them, or `held`.
std::size_t GrowingText::begun_stop(const std::string& text, std::size_t held) const {
  for (const std::string& stop : stops_) {
    for (std::size_t size = std::min(stop.size(), text.size()); size > held; --size) {
      if (text.ends_with(std::string_view(stop).substr(0, size))) held = size;
    }
  }
  return held;
}

// Bytes at the end that may still change: a broken character, or the beginning of a stop.
std::size_t GrowingText::uncertain() const {
  std::size_t held = 0;
  for (std::size_t n = 0;
       n < kLongestCharacter && std::string_view(text_).substr(0, text_.size() - held).ends_with(kReplaced); ++n) {
    held += kReplaced.size();
  }
  held = begun_stop(text_, held);
  const std::size_t marked = special_.empty() ? 0 : begun_stop(marked_, 0);
  return marked == 0 ? held : std::max(held, text_.size() - shown_before(marked_.size() - marked));
}

std::string GrowingText::said_up_to(std::size_t end) {
  if (end <= said_) return "";
  std::string part = text_.substr(said_, end - said_);
  said_ = end;
  return part;
}

}  // namespace qkv
