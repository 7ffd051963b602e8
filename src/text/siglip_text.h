// A text as SigLIP's tokenizer reads it (Zhai et al. 2023; big_vision's canonicalize_text).
#pragma once

#include <cstddef>

#include "text/aligned_text.h"

namespace qkv::text {

/// The bytes [begin, end) in lower case where `lowers`, without ASCII punctuation, white space as one blank and none at
/// the ends; "▁" is a blank. Of the first part of a text a "▁" stands in front.
[[nodiscard]] AlignedText siglip_text(const AlignedText& whole, std::size_t begin, std::size_t end, bool lowers,
                                      bool is_first);

}  // namespace qkv::text
