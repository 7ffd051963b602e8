#include "explain/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utf8.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "qkv/error.h"
#include "qkv/explain.h"

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

}  // namespace

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

QueryChoice find_query(std::string_view query, const std::vector<std::string>& tokens) {
  const auto found = std::find(tokens.begin(), tokens.end(), query);
  if (found != tokens.end()) return {found - tokens.begin(), std::count(tokens.begin(), tokens.end(), query)};
  std::int64_t index = 0;
  const auto [end, error] = std::from_chars(query.data(), query.data() + query.size(), index);
  const bool is_index = error == std::errc() && end == query.data() + query.size();
  if (is_index && index >= 0 && index < static_cast<std::int64_t>(tokens.size())) return {index, 0};
  throw InvalidArgument("explain", "query", "one of the tokens, by word or by index: " + listed(tokens),
                        "\"" + std::string(query) + "\"");
}

}  // namespace qkv::explain_detail
