#include "explain/words.h"

#include <fmt/format.h>
#include <utf8.h>

#include <algorithm>
#include <unordered_map>

#include "core/counted.h"
#include "qkv/error.h"
#include "qkv/explain.h"

namespace qkv::explain_detail {
namespace {

void require_utf8(std::string_view argument, std::string_view text) {
  const auto bad = utf8::find_invalid(text.begin(), text.end());
  if (bad == text.end()) return;
  const auto byte = static_cast<unsigned char>(*bad);
  throw InvalidArgument("explain", argument, "UTF-8",
                        fmt::format("the byte 0x{:02X} at position {} (counted from 0), which no UTF-8 text has there",
                                    byte, bad - text.begin()));
}

// Every picture names the words.
[[noreturn]] void refuse_bytes(std::string_view argument, std::string_view what, std::size_t most, std::size_t got) {
  throw InvalidArgument("explain", argument, fmt::format("{} of at most {} bytes", what, most),
                        fmt::format("one of {}", got));
}

bool is_space(char32_t c) {
  return c == U' ' || (c >= U'\t' && c <= U'\r') || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

}  // namespace

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::vector<std::string> split_words(std::string_view argument, std::string_view text) {
  if (text.size() > kMostTextBytes) refuse_bytes(argument, "a text", kMostTextBytes, text.size());
  require_utf8(argument, text);
  std::vector<std::string> words;
  bool inside = false;
  for (auto at = text.begin(); at != text.end();) {
    const auto begin = at;
    const auto c = static_cast<char32_t>(utf8::next(at, text.end()));
    if (is_space(c)) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    words.back().append(begin, at);
  }
  for (const std::string& word : words) {
    if (word.size() > kMostWordBytes) refuse_bytes(argument, "words", kMostWordBytes, word.size());
  }
  if (words.empty()) {
    throw InvalidArgument("explain", argument, "at least one word",
                          text.empty() ? "an empty text" : "a text of nothing but white space");
  }
  if (static_cast<std::int64_t>(words.size()) > kExplainTokens) {
    throw InvalidArgument(
        "explain", argument,
        fmt::format("at most {} words, because every step's T × T matrix is kept to be shown", kExplainTokens),
        core::counted(words.size(), "word"));
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

std::vector<std::string> distinct_names(const std::vector<std::string>& tokens, std::int64_t first) {
  std::unordered_map<std::string_view, int> counts;
  for (const std::string& token : tokens) ++counts[token];
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    names.push_back(counts[tokens[i]] == 1 ? tokens[i]
                                           : fmt::format("{}@{}", tokens[i], first + static_cast<std::int64_t>(i)));
  }
  return names;
}

}  // namespace qkv::explain_detail
