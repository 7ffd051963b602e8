// The words of the mask language: how each is written, what it means, and what makes it.
#pragma once

#include "mask/call.h"

namespace qkv::mask_detail {

struct MaskWord {
  Signature signature;
  std::string_view meaning;
  Mask (*make)(const Call& call);
  std::string (*sample)(const MaskShape& shape);
};

/// Null if there is no such word.
[[nodiscard]] const MaskWord* find_mask_word(std::string_view word);
/// The one that makes what this function makes, likewise.
[[nodiscard]] const MaskWord* mask_word_for(std::string_view function);

}  // namespace qkv::mask_detail
