#include <utf8.h>

#include <algorithm>
#include <numeric>

#include "qkv/nearest_word.h"
#include "qkv/train/task.h"

namespace qkv {
namespace {

// Where the token ends that begins at `begin`, which is no space.
std::size_t end_of_token(std::string_view text, std::size_t begin, TextForm form) {
  if (text[begin] == '<') {
    const std::size_t close = text.find('>', begin);
    return close == std::string_view::npos ? text.size() : close + 1;
  }
  if (form == TextForm::letters) {
    const auto* after = text.begin() + begin;
    utf8::unchecked::next(after);
    return static_cast<std::size_t>(after - text.begin());
  }
  std::size_t end = begin;
  while (end < text.size() && text[end] != ' ') {
    if (text[end++] == '\'') break;
  }
  return end;
}

}  // namespace

TaskVocabulary::TaskVocabulary(std::vector<std::string> tokens, TextForm form)
    : tokens_(std::move(tokens)), by_text_(tokens_.size()), form_(form) {
  std::iota(by_text_.begin(), by_text_.end(), 0);
  const auto text_of = [this](std::int32_t token) -> const std::string& {
    return tokens_[static_cast<std::size_t>(token)];
  };
  std::ranges::sort(by_text_, {}, text_of);
  const auto twice = std::ranges::adjacent_find(by_text_, {}, text_of);
  if (twice != by_text_.end()) {
    throw InvalidArgument("TaskVocabulary", "tokens", "each one once", "\"" + text_of(*twice) + "\" twice");
  }
}

const std::string& TaskVocabulary::text(std::int32_t token) const {
  if (token < 0 || token >= size()) {
    throw InvalidArgument("TaskVocabulary::text", "token", "from 0 to " + std::to_string(size() - 1),
                          std::to_string(token));
  }
  return tokens_[static_cast<std::size_t>(token)];
}

std::optional<std::int32_t> TaskVocabulary::find(std::string_view text) const noexcept {
  const auto found = std::ranges::lower_bound(by_text_, text, {}, [this](std::int32_t token) {
    return std::string_view(tokens_[static_cast<std::size_t>(token)]);
  });
  if (found == by_text_.end() || tokens_[static_cast<std::size_t>(*found)] != text) return std::nullopt;
  return *found;
}

std::int32_t TaskVocabulary::token(std::string_view text) const {
  if (const auto found = find(text)) return *found;
  std::string expected = "a token of the task";
  const std::vector<std::string_view> known(tokens_.begin(), tokens_.end());
  if (const auto near = nearest_word(text, known)) expected += ", such as \"" + std::string(*near) + "\"";
  throw InvalidArgument("TaskVocabulary::token", "text", expected, "\"" + std::string(text) + "\"");
}

std::vector<std::int32_t> TaskVocabulary::encode(std::string_view text) const {
  if (!utf8::is_valid(text.begin(), text.end())) {
    throw InvalidArgument("TaskVocabulary::encode", "text", "UTF-8", "bytes that are none");
  }
  if (form_ == TextForm::characters) return encode_characters(text);
  std::vector<std::int32_t> tokens;
  std::size_t at = text.find_first_not_of(' ');
  while (at != std::string_view::npos) {
    const std::size_t end = end_of_token(text, at, form_);
    tokens.push_back(token(text.substr(at, end - at)));
    at = text.find_first_not_of(' ', end);
  }
  return tokens;
}

std::vector<std::int32_t> TaskVocabulary::encode_characters(std::string_view text) const {
  std::vector<std::int32_t> tokens;
  const std::optional<std::int32_t> unknown = find("<unknown>");
  for (const auto* at = text.begin(); at != text.end();) {
    const auto* const begin = at;
    utf8::unchecked::next(at);
    const std::string_view character(begin, static_cast<std::size_t>(at - begin));
    const std::optional<std::int32_t> found = find(character);
    tokens.push_back(found || !unknown ? token(character) : *unknown);
  }
  return tokens;
}

std::string TaskVocabulary::decode(std::span<const std::int32_t> tokens) const {
  std::string joined;
  for (const std::int32_t number : tokens) {
    const std::string& next = text(number);
    const bool spaced = form_ == TextForm::words && !joined.empty() && !joined.ends_with('\'');
    if (spaced) joined += ' ';
    joined += next;
  }
  return joined;
}

}  // namespace qkv
