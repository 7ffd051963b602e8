#include "mask/language_word.h"

#include "mask/mask_words.h"

namespace qkv::mask_detail {

std::optional<LanguageWord> language_word(std::string_view function) {
  if (const MaskWord* const word = mask_word_for(function)) return LanguageWord{word->signature.word, "mask"};
  const std::string_view word = bias_word_for(function);
  return word.empty() ? std::nullopt : std::optional(LanguageWord{word, "bias"});
}

}  // namespace qkv::mask_detail
