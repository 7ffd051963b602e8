// A piece that the vocabulary has to hold.
#pragma once

#include <string_view>

#include "qkv/text/tokenizer.h"

namespace qkv::text {

/// Its number. Throws InvalidArgument of this function and argument, with the nearest piece, where there is none.
[[nodiscard]] std::int32_t require_piece(const Tokenizer& tokenizer, std::string_view piece, std::string_view function,
                                         std::string_view argument);

}  // namespace qkv::text
