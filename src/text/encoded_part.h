// What the stages after the model work on: the tokens of a text, or of a special token that a template puts in.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "qkv/text/tokenizer.h"

namespace qkv::text {

/// Characters of white space that the text of a token begins and ends with.
struct Blanks {
  std::uint32_t leading = 0;
  std::uint32_t trailing = 0;
};

struct EncodedPart {
  Encoding tokens;             // of all its lists, as many as ids
  std::vector<Blanks> blanks;  // where something trims offsets; as many as ids
  std::string_view original;   // none of special tokens
};

}  // namespace qkv::text
