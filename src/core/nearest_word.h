// "Did you mean": the known word that a typed one is a slip of.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace qkv::core {

/// The known word with the fewest edits (insert, delete, replace, swap of neighbours), if they are few enough for a
/// slip of the hand: at most a third of the letters, rounded to the nearest.
[[nodiscard]] std::optional<std::string_view> nearest_word(std::string_view typed,
                                                           std::span<const std::string_view> known);

/// Throws InvalidArgument naming the argument: expected one of the known words, got this one, with the nearest.
[[noreturn]] void refuse_word(std::string_view function, std::string_view argument, std::string_view typed,
                              std::span<const std::string_view> known);

}  // namespace qkv::core
