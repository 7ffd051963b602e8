// A tokenizer beside a table of tokens with another number of rows.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "qkv/text/tokenizer.h"

namespace qkv::text {

/// The word of a config that says how many rows there are.
inline constexpr const char* kRows = "rows";

/// A tokenizer of as many pieces as a table has rows; `tokenizer` itself if it has as many. A row without a piece, of a
/// table that was padded, is "<id:58>". A piece without a row, an added token of another model, is left out:
/// encode() throws InvalidArgument naming it and the rows.
[[nodiscard]] std::shared_ptr<const Tokenizer> fitted_tokenizer(std::shared_ptr<const Tokenizer> tokenizer,
                                                                std::int64_t rows);

/// The same of the words of its config(). Throws InvalidArgument as make_tokenizer().
[[nodiscard]] std::shared_ptr<const Tokenizer> fitted_tokenizer_of(std::map<std::string, std::string> config);

}  // namespace qkv::text
