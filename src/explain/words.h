// Text → words → ids: the smallest tokenizer there is, one word a token.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::explain_detail {

/// The words between white space. Throws InvalidArgument naming `argument` if there are none, more than kExplainTokens,
/// or a byte that is not UTF-8 (with its position).
[[nodiscard]] std::vector<std::string> split_words(std::string_view argument, std::string_view text);

/// With a capital letter where it begins with a small one of ASCII.
[[nodiscard]] std::string capital(std::string text);

/// Ids in order of first appearance: a repeated word has the id of its first occurrence.
class Vocabulary {
 public:
  /// The ids of `words`; new words are added.
  std::vector<std::int64_t> ids(const std::vector<std::string>& words);
  [[nodiscard]] const std::vector<std::string>& words() const noexcept { return words_; }

 private:
  std::vector<std::string> words_;
};

/// The tokens, where one occurs several times each with its index: "the@0", "cat", "the@2".
[[nodiscard]] std::vector<std::string> distinct_names(const std::vector<std::string>& tokens);

/// Where the reader's query is: a word of the text (its first occurrence; with or without the space that a token has in
/// front), an index, or both, "the@2".
struct QueryChoice {
  std::int64_t index = 0;
  bool is_ambiguous = false;  // the reader gave a word that occurs several times
};
/// Throws InvalidArgument listing the tokens.
[[nodiscard]] QueryChoice find_query(std::string_view query, const std::vector<std::string>& tokens);

}  // namespace qkv::explain_detail
