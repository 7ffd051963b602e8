#include "qkv/insight/patterns.h"

#include <algorithm>
#include <string>

#include "core/listed.h"
#include "qkv/error.h"

namespace qkv {
namespace {

using Keys = std::vector<std::size_t>;

Keys at(const PatternTokens& tokens, std::ptrdiff_t key) {
  if (key < 0 || key >= static_cast<std::ptrdiff_t>(tokens.keys.size())) return {};
  return {static_cast<std::size_t>(key)};
}

// The key that is the query itself.
std::ptrdiff_t place_of(const PatternTokens& tokens, std::size_t query) {
  const auto place = static_cast<std::ptrdiff_t>(query);
  if (!tokens.is_self) return place;
  return place + static_cast<std::ptrdiff_t>(tokens.keys.size()) - static_cast<std::ptrdiff_t>(tokens.queries.size());
}

Keys beside(const PatternTokens& tokens, std::size_t query, std::ptrdiff_t offset) {
  return at(tokens, place_of(tokens, query) + offset);
}

Keys first_token(const PatternTokens& tokens, std::size_t query) {
  return place_of(tokens, query) > 0 ? at(tokens, 0) : Keys();
}

Keys with_role(const PatternTokens& tokens, TokenRole role) {
  Keys keys;
  for (std::size_t key = 0; key < tokens.roles.size(); ++key) {
    if (tokens.roles[key] == role) keys.push_back(key);
  }
  return keys;
}

// [CLS] and <s> are the first token, which is a pattern of its own.
Keys separators(const PatternTokens& tokens) {
  Keys keys = with_role(tokens, TokenRole::separator);
  if (tokens.is_self) std::erase(keys, 0U);
  return keys;
}

Keys same_token(const PatternTokens& tokens, std::size_t query) {
  Keys keys;
  const auto self = static_cast<std::size_t>(place_of(tokens, query));
  for (std::size_t key = 0; key < tokens.keys.size(); ++key) {
    if (key != self && tokens.keys[key] == tokens.queries[query]) keys.push_back(key);
  }
  return keys;
}

Keys after_same_token(const PatternTokens& tokens, std::size_t query) {
  Keys keys;
  const auto self = static_cast<std::size_t>(place_of(tokens, query));
  for (const std::size_t key : same_token(tokens, query)) {
    if (key < self) keys.push_back(key + 1);
  }
  return keys;
}

std::vector<TextPattern> all_patterns() {
  using Tokens = const PatternTokens&;
  return {
      {"previous", "prev", "previous token", "the previous token", true, false,
       [](Tokens t, std::size_t q) { return beside(t, q, -1); }},
      {"next", "next", "next token", "the next token", true, false,
       [](Tokens t, std::size_t q) { return beside(t, q, 1); }},
      {"self", "self", "itself", "itself", true, false, [](Tokens t, std::size_t q) { return beside(t, q, 0); }},
      {"first", "first", "first token", "the first token", true, false, first_token},
      {"separator", "sep", "separators", "separators", true, true, [](Tokens t, std::size_t) { return separators(t); }},
      {"punctuation", "punct", "punctuation", "punctuation", true, true,
       [](Tokens t, std::size_t) { return with_role(t, TokenRole::punctuation); }},
      {"duplicate", "dupl", "same token", "the same token elsewhere", true, false, same_token},
      {"induction", "induct", "after the same token", "the token after the same one", true, false, after_same_token},
      {"place", "place", "same place", "the same place", false, true,
       [](Tokens t, std::size_t q) { return beside(t, q, 0); }},
      {"last", "last", "last key", "the last key", false, true,
       [](Tokens t, std::size_t) { return at(t, static_cast<std::ptrdiff_t>(t.keys.size()) - 1); }},
  };
}

}  // namespace

std::span<const TextPattern> text_patterns() {
  static const std::vector<TextPattern> kPatterns = all_patterns();
  return kPatterns;
}

std::size_t text_pattern_named(std::string_view word) {
  const auto all = text_patterns();
  const auto found = std::ranges::find(all, word, &TextPattern::word);
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  throw InvalidArgument("text_pattern_named", "word", "one of " + core::joined(all, &TextPattern::word),
                        "\"" + std::string(word) + "\"");
}

}  // namespace qkv
