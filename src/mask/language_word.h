// Which word of the mask or bias language stands for a function.
#pragma once

#include <optional>
#include <string_view>

namespace qkv::mask_detail {

struct LanguageWord {
  std::string_view word;
  std::string_view language;  // "mask" or "bias"
};

/// The word that makes what this function of the library makes; nullopt if there is none.
[[nodiscard]] std::optional<LanguageWord> language_word(std::string_view function);

/// Likewise the bias language's; empty if there is none.
[[nodiscard]] std::string_view bias_word_for(std::string_view function);

}  // namespace qkv::mask_detail
