#include "explain/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utf8.h>

#include <algorithm>
#include <unordered_map>

#include "qkv/error.h"
#include "qkv/explain.h"
#include "qkv/number_text.h"

namespace qkv::explain_detail {
namespace {

constexpr std::size_t kTokensInMessage = 40;

void require_utf8(std::string_view argument, std::string_view text) {
  const auto* const bad = utf8::find_invalid(text.begin(), text.end());
  if (bad == text.end()) return;
  const auto byte = static_cast<unsigned char>(*bad);
  throw InvalidArgument("explain", argument, "UTF-8",
                        fmt::format("the byte 0x{:02X} at position {} (counted from 0), which no UTF-8 text has there",
                                    byte, bad - text.begin()));
}

bool is_space(char32_t c) {
  return c == U' ' || (c >= U'\t' && c <= U'\r') || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::string listed(const std::vector<std::string>& tokens) {
  std::string list;
  for (std::size_t i = 0; i < std::min(tokens.size(), kTokensInMessage); ++i) {
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", i, tokens[i]);
  }
  return tokens.size() > kTokensInMessage ? list + ", …" : list;
}

// A word of a tokenizer has its space in front: "␣cat", of SentencePiece "▁cat".
std::string_view without_space(std::string_view token) {
  for (const std::string_view space : {"␣", "▁"}) {
    if (token.size() > space.size() && token.starts_with(space)) return token.substr(space.size());
  }
  return token;
}

}  // namespace

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::vector<std::string> split_words(std::string_view argument, std::string_view text) {
  require_utf8(argument, text);
  std::vector<std::string> words;
  bool inside = false;
  for (const auto* at = text.begin(); at != text.end();) {
    const auto* const begin = at;
    const auto c = static_cast<char32_t>(utf8::next(at, text.end()));
    if (is_space(c)) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    words.back().append(begin, at);
  }
  if (words.empty()) {
    throw InvalidArgument("explain", argument, "at least one word",
                          text.empty() ? "an empty text" : "a text of nothing but white space");
  }
  if (static_cast<std::int64_t>(words.size()) > kExplainTokens) {
    throw InvalidArgument(
        "explain", argument,
        fmt::format("at most {} words, because every step's T × T matrix is kept to be shown", kExplainTokens),
        fmt::format("{} words", words.size()));
  }
  return words;
}

std::vector<std::int64_t> Vocabulary::ids(const std::vector<std::string>& words) {
  std::unordered_map<std::string, std::int64_t> known;
  for (const std::string& word : words_) known.emplace(word, static_cast<std::int64_t>(known.size()));
  std::vector<std::int64_t> result;
  result.reserve(words.size());
  for (const std::string& word : words) {
    const auto [place, is_new] = known.emplace(word, static_cast<std::int64_t>(known.size()));
    if (is_new) words_.push_back(word);
    result.push_back(place->second);
  }
  return result;
}

std::vector<std::string> distinct_names(const std::vector<std::string>& tokens) {
  std::unordered_map<std::string_view, int> counts;
  for (const std::string& token : tokens) ++counts[token];
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    names.push_back(counts[tokens[i]] == 1 ? tokens[i] : fmt::format("{}@{}", tokens[i], i));
  }
  return names;
}

QueryChoice find_query(std::string_view query, const std::vector<std::string>& tokens) {
  const auto found = std::ranges::find(tokens, query);
  if (found != tokens.end()) return {found - tokens.begin(), std::ranges::count(tokens, query) > 1};
  const auto word = std::ranges::find(tokens, query, without_space);
  if (word != tokens.end()) return {word - tokens.begin(), std::ranges::count(tokens, query, without_space) > 1};
  const auto at = query.rfind('@');  // none: npos + 1 is 0, and all of it is an index
  const auto index = number_from<std::size_t>(query.substr(at + 1));
  const bool is_index = index && *index < tokens.size();
  if (is_index && (at == std::string_view::npos || tokens[*index] == query.substr(0, at))) {
    return {static_cast<std::int64_t>(*index), false};
  }
  throw InvalidArgument("explain", "query", "one of the tokens, by word or by index: " + listed(tokens),
                        "\"" + std::string(query) + "\"");
}

}  // namespace qkv::explain_detail
