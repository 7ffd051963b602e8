// SentencePiece's table of replacements ("precompiled_charsmap"): a double array (Darts) of what is replaced, and the
// replacements, each of which ends with a zero byte. https://github.com/google/sentencepiece, src/normalizer.cc
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::text {

/// Immutable. Replacements are valid UTF-8; they live as long as the table.
class CharsMap {
 public:
  struct Match {
    std::size_t length = 0;  // bytes that are replaced
    std::string_view replacement;
  };

  /// A table that replaces nothing.
  CharsMap() = default;
  /// Throws Error("<place>: expected …, got …") for other bytes; none at all are a table that replaces nothing.
  CharsMap(std::string_view bytes, const std::string& place);

  /// The shortest, or the longest, beginning of a text that the table has.
  [[nodiscard]] std::optional<Match> shortest(std::string_view text) const noexcept;
  [[nodiscard]] std::optional<Match> longest(std::string_view text) const noexcept;
  /// Whether something that is replaced begins with these bytes.
  [[nodiscard]] bool knows(std::string_view beginning) const noexcept;

 private:
  // Calls visit(Match) for each beginning that the table has, while it returns true; true where the text ends first.
  template <class Visit>
  bool walk(std::string_view text, const Visit& visit) const noexcept;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

}  // namespace qkv::text
