// A text on its way through the stages of a tokenizer, each byte of which knows the bytes of the original behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/characters.h"

namespace qkv::text {

/// Bytes [begin, end) of the original text; 32 bits, so a text has less than 4 GiB.
struct OriginalRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  friend bool operator==(const OriginalRange&, const OriginalRange&) = default;
};

/// Throws InvalidArgument of Tokenizer::encode for a text of 4 GiB or more.
void require_short(std::string_view text);

/// A character of a text that is written anew, and what it does to the characters that were there.
struct Rewritten {
  char32_t character = 0;
  int change = 0;  // 0 takes the place of the next one, 1 is put in, -n takes its place and removes n behind it
};

/// Valid UTF-8. The rules by which a changed text stays aligned are those of the `tokenizers` library, so that offsets
/// agree: a character that is put in has the alignment of the one before it, one that is composed that of its first
/// part.
class AlignedText {
 public:
  AlignedText() = default;
  /// The bytes of `original` in a range of it, with U+FFFD for what is no UTF-8.
  AlignedText(std::string_view original, std::size_t begin, std::size_t end);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return text_.size(); }
  [[nodiscard]] bool is_ascii() const noexcept;
  /// The original behind the byte at a place.
  [[nodiscard]] OriginalRange origin(std::size_t at) const noexcept { return origins_[at]; }
  /// The original behind bytes [begin, end), which are some.
  [[nodiscard]] OriginalRange origin(std::size_t begin, std::size_t end) const noexcept {
    return {.begin = origins_[begin].begin, .end = origins_[end - 1].end};
  }

  void append(std::string_view bytes, OriginalRange origin);
  void append(char32_t character, OriginalRange origin) {
    constexpr char32_t kAsciiEnd = 0x80;
    if (character >= kAsciiEnd) return append_long(character, origin);
    text_.push_back(static_cast<char>(character));
    origins_.push_back(origin);
  }
  /// The bytes [begin, end) of another text.
  void append(const AlignedText& other, std::size_t begin, std::size_t end);
  void reserve(std::size_t bytes);
  void clear() noexcept;

  /// The whole text anew; `removed` characters at its begin are left out first.
  void rewrite(std::span<const Rewritten> characters, std::size_t removed = 0);
  /// Keeps the characters that `keep` returns, as what it returns.
  template <class Keep>
  void map(const Keep& keep) {
    AlignedText changed;
    changed.reserve(text_.size());
    for (std::size_t at = 0; at < text_.size(); at += character_length(text_[at])) {
      if (const std::optional<char32_t> kept = keep(character_at(text_, at))) changed.append(*kept, origins_[at]);
    }
    *this = std::move(changed);
  }
  /// Puts a text in front, aligned with the first character. Does nothing to an empty text.
  void prepend(std::string_view front);
  /// Sets ASCII bytes in lower case; the text is ASCII.
  void lower_ascii() noexcept;

 private:
  void append_long(char32_t character, OriginalRange origin);

  std::string text_;
  std::vector<OriginalRange> origins_;  // of each byte
};

/// Calls `visit(character)` for each character of valid UTF-8.
template <class Visit>
void for_each_character(std::string_view valid, const Visit& visit) {
  for (std::size_t at = 0; at < valid.size(); at += character_length(valid[at])) visit(character_at(valid, at));
}

}  // namespace qkv::text
