// What generation_config.json says beside the options of GenerateOptions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace qkv::families {

/// The tokens of bad_words_ids, where each of its words is one token: Marian's padding, whose score means nothing. None
/// where a word is several tokens, or for a file.
[[nodiscard]] std::vector<std::int64_t> never_written_in(const std::string& folder);
/// Likewise as the first after the prompt: begin_suppress_tokens.
[[nodiscard]] std::vector<std::int64_t> never_written_first_in(const std::string& folder);

}  // namespace qkv::families
