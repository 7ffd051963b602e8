// The words of a tokenizer's config, as a model file keeps it.
#pragma once

#include <map>
#include <string>

namespace qkv::text {

inline constexpr const char* kMakeTokenizer = "make_tokenizer";

/// Throws InvalidArgument naming the word where there is none.
[[nodiscard]] const std::string& saved_word(const std::map<std::string, std::string>& config, const std::string& word);
/// The bytes that the word has in base64. Throws likewise, and for another text.
[[nodiscard]] std::string saved_bytes(const std::map<std::string, std::string>& config, const std::string& word);

}  // namespace qkv::text
