#include "insight/find_token.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/listed.h"
#include "core/number_text.h"
#include "core/shortened.h"
#include "qkv/error.h"

namespace qkv::insight {
namespace {

constexpr std::size_t kTokensInMessage = 40;

std::string listed_tokens(const std::vector<std::string>& tokens) {
  const auto first = std::span(tokens).first(std::min(tokens.size(), kTokensInMessage));
  std::size_t i = 0;
  const std::string list = core::joined(
      first, [&](const std::string& token) { return fmt::format("{} {}", i++, core::among_words(token)); });
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

TokenChoice find_token(std::string_view function, std::string_view argument, std::string_view word,
                       const std::vector<std::string>& tokens) {
  const auto found = std::ranges::find(tokens, word);
  if (found != tokens.end()) return {found - tokens.begin(), std::ranges::count(tokens, word) > 1};
  const auto bare = std::ranges::find(tokens, word, without_space);
  if (bare != tokens.end()) return {bare - tokens.begin(), std::ranges::count(tokens, word, without_space) > 1};
  const auto at = word.rfind('@');  // none: npos + 1 is 0, and all of it is an index
  const auto index = core::number_from<std::size_t>(word.substr(at + 1));
  const bool is_index = index && *index < tokens.size();
  if (is_index && (at == std::string_view::npos || tokens[*index] == word.substr(0, at))) {
    return {static_cast<std::int64_t>(*index), false};
  }
  throw InvalidArgument(function, argument, "one of the tokens, by word or by index: " + listed_tokens(tokens),
                        "\"" + std::string(word) + "\"");
}

}  // namespace qkv::insight
