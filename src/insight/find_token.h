// A token of a text by what the reader calls it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::insight {

/// Where the reader's token is: a word of the text (its first occurrence; with or without the space that a token has in
/// front), an index, or both, "the@2".
struct TokenChoice {
  std::int64_t index = 0;
  bool is_ambiguous = false;  // the reader gave a word that occurs several times
};
/// Throws InvalidArgument of this function and argument, listing the tokens.
[[nodiscard]] TokenChoice find_token(std::string_view function, std::string_view argument, std::string_view word,
                                     const std::vector<std::string>& tokens);

}  // namespace qkv::insight
