// Where a text may be cut in parts that have the tokens of the whole: no piece holds the two characters there side by
// side, so none lies across.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <string_view>

namespace qkv::text {

/// Tells apart the characters of ASCII and "▁"; all others are one class, between which there is a cut only if no piece
/// has two of them.
class PieceJoints {
 public:
  /// A piece of valid UTF-8.
  void add(std::string_view piece) noexcept;
  /// The end of the part of a text that begins at `begin`, of which `ends(at)` may see more ends.
  template <class Ends>
  [[nodiscard]] std::size_t end_of_part(std::string_view text, std::size_t begin, const Ends& ends) const noexcept {
    Character last = character(text, begin);
    for (std::size_t at = begin + last.length; at < text.size();) {
      const Character next = character(text, at);
      if (!holds_[last.kind][next.kind] || ends(at)) return at;
      last = next;
      at += next.length;
    }
    return text.size();
  }

 private:
  static constexpr std::size_t kAscii = 128;
  static constexpr std::size_t kSpace = kAscii;
  static constexpr std::size_t kOther = kAscii + 1;
  struct Character {
    std::size_t kind = 0;
    std::size_t length = 0;
  };
  [[nodiscard]] static Character character(std::string_view text, std::size_t at) noexcept;

  std::array<std::bitset<kOther + 1>, kOther + 1> holds_;  // a piece has these two, one behind the other
};

}  // namespace qkv::text
