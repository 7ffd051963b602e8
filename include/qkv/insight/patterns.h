// Patterns that the attention of any text may show: which keys of a query belong to each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace qkv {

/// What a token is to whoever reads attention.
enum class TokenRole : std::uint8_t {
  word,
  punctuation,  // ASCII punctuation alone
  separator,    // a special token, such as [CLS], [SEP], <s>, </s>, <|endoftext|>
};

/// The tokens of one attention call. Numbers are equal where the tokens are.
struct PatternTokens {
  std::vector<std::int64_t> queries;  // [Tq]
  std::vector<std::int64_t> keys;     // [Tk]
  std::vector<TokenRole> roles = {};  // [Tk] of the keys; empty: all words
  bool is_self = true;                // self-attention: query i is key i + Tk - Tq
};

struct TextPattern {
  std::string_view word;    // "previous": in CSV and JSON, and as the class of a head
  std::string_view column;  // "prev": above a column, in at most 7 characters
  std::string_view name;    // "previous token"
  std::string_view phrase;  // "the previous token": where a head looks, in a sentence
  bool of_self = true;      // whether self-attention may have it
  bool of_cross = false;    // likewise
  /// The keys of a query by rising index; none if it has no such key.
  std::function<std::vector<std::size_t>(const PatternTokens& tokens, std::size_t query)> keys;
};

/// previous, next, self, first, separator, punctuation, duplicate, induction; of cross-attention place and last. A
/// separator that is the first token of self-attention, such as [CLS], counts as first alone. The narrower of two
/// patterns goes first.
[[nodiscard]] std::span<const TextPattern> text_patterns();

/// The place of a pattern in text_patterns(). Throws InvalidArgument for another word.
[[nodiscard]] std::size_t text_pattern_named(std::string_view word);

}  // namespace qkv
