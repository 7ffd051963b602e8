// Texts that are longer than a model reads, told by their beginnings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "qkv/text/tokenizer.h"

namespace qkv::model_detail {

/// What the beginning of a text shows that has more than `most` tokens, many times over: "5000000 bytes, of which the
/// first 4352 are 4352 tokens". nullopt where only the whole text tells. Allocates for the beginning alone, some bytes
/// for each of `most`. Throws as Tokenizer::encode().
[[nodiscard]] std::optional<std::string> seen_to_be_longer(const Tokenizer& tokenizer, std::string_view text,
                                                           std::int64_t most);

}  // namespace qkv::model_detail
