// Tokens as a table.
#pragma once

#include <string>
#include <string_view>

#include "qkv/text/tokenizer.h"

namespace qkv::cli {

/// Number, id, piece, bytes and the part of the text of each token.
[[nodiscard]] std::string table_of(const Encoding& encoding, const Tokenizer& tokenizer, std::string_view text,
                                   std::string_view pair);

}  // namespace qkv::cli
