// Tokens as a table and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "qkv/text/tokenizer.h"

namespace qkv::cli {

/// The bytes as JSON can hold them: U+FFFD for each that is no UTF-8.
[[nodiscard]] std::string shown_text(std::string_view bytes);

/// Number, id, piece, bytes and the part of the text of each token.
[[nodiscard]] std::string table_of(const Encoding& encoding, const Tokenizer& tokenizer, std::string_view text,
                                   std::string_view pair);

/// "ids", "pieces", "offsets", "types" and "sources".
[[nodiscard]] nlohmann::json json_of(const Encoding& encoding, const Tokenizer& tokenizer);

/// Whether a piece, or the text that it stands for, holds a text.
[[nodiscard]] bool holds(const Tokenizer& tokenizer, std::int32_t id, std::string_view text);

}  // namespace qkv::cli
