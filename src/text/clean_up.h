// English with its punctuation as it is written: "it 's ." is "it's.".
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace qkv::text {

/// In the order in which they are applied.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kCleanUpRules = {{{" .", "."},
                                                                                                 {" ?", "?"},
                                                                                                 {" !", "!"},
                                                                                                 {" ,", ","},
                                                                                                 {" ' ", "'"},
                                                                                                 {" n't", "n't"},
                                                                                                 {" 'm", "'m"},
                                                                                                 {" 's", "'s"},
                                                                                                 {" 've", "'ve"},
                                                                                                 {" 're", "'re"}}};

void clean_up(std::string& text);

/// From the left; what is put in is not looked through. Nothing where `old` is empty.
void replace_all(std::string& text, std::string_view old, std::string_view by);

}  // namespace qkv::text
