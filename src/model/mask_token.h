// The token that an encoder learned to fill.
#pragma once

#include <string_view>

namespace qkv {

/// Whether a piece stands for a gap: "[MASK]" of BERT, "<mask>" of RoBERTa.
[[nodiscard]] inline bool is_mask_token(std::string_view piece) noexcept {
  return piece == "[MASK]" || piece == "<mask>";
}

}  // namespace qkv
