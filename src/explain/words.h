// Text → words → ids: the smallest tokenizer there is, one word a token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::explain_detail {

inline constexpr std::size_t kMostTextBytes = std::size_t{1} << 20;  // kExplainTokens words of 256
inline constexpr std::size_t kMostWordBytes = 1024;

/// The words between white space. Throws InvalidArgument naming `argument` if there are none, more than kExplainTokens,
/// one of more than kMostWordBytes, more than kMostTextBytes of all, or a byte that is not UTF-8 (with its position).
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

/// The tokens, where one occurs several times each with its index, counted from `first`: "the@0", "cat", "the@2".
[[nodiscard]] std::vector<std::string> distinct_names(const std::vector<std::string>& tokens, std::int64_t first = 0);

}  // namespace qkv::explain_detail
