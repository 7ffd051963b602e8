// A text cut into pieces, and how a piece is cut further.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "text/aligned_text.h"
#include "text/regex.h"

namespace qkv::text {

/// Bytes [begin, end) of the text; an added token has its id, and is not cut any more.
struct Piece {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::optional<std::int32_t> added = std::nullopt;
};

struct Pieces {
  AlignedText text;
  std::vector<Piece> list;

  [[nodiscard]] std::string_view text_of(const Piece& piece) const noexcept {
    return std::string_view(text.text()).substr(piece.begin, piece.end - piece.begin);
  }
};

/// What becomes of the parts that match, as in "the-final--countdown" cut at "-".
enum class SplitBehavior : std::uint8_t {
  removed,               // the final countdown
  isolated,              // the - final - - countdown
  merged_with_previous,  // the- final- - countdown
  merged_with_next,      // the -final - -countdown
  contiguous,            // the - final -- countdown
};

/// Joins or removes parts that cover a text. What is left is what the text is cut into.
void apply_behavior(std::vector<Part>& parts, SplitBehavior behavior);

/// Cuts each piece that is no added token by `find(text, parts)`, which appends parts that cover it.
template <class Find>
void cut_pieces(Pieces& pieces, SplitBehavior behavior, const Find& find) {
  std::vector<Piece> cut;
  cut.reserve(pieces.list.size());
  std::vector<Part> parts;
  for (const Piece& piece : pieces.list) {
    if (piece.added) {
      cut.push_back(piece);
      continue;
    }
    parts.clear();
    find(pieces.text_of(piece), parts);
    apply_behavior(parts, behavior);
    for (const Part& part : parts) {
      if (part.begin < part.end) cut.push_back({.begin = piece.begin + part.begin, .end = piece.begin + part.end});
    }
  }
  pieces.list = std::move(cut);
}

/// Parts that match where the predicate of characters holds, each a character.
template <class Predicate>
void find_characters(std::string_view valid, std::vector<Part>& parts, const Predicate& matches) {
  std::uint32_t covered = 0;
  std::uint32_t at = 0;
  const auto size = static_cast<std::uint32_t>(valid.size());
  for (std::uint32_t next = 0; at < size; at = next) {
    next = at + character_length(valid[at]);
    if (!matches(character_at(valid, at))) continue;
    if (covered < at) parts.push_back({.begin = covered, .end = at});
    parts.push_back({.begin = at, .end = next, .matches = true});
    covered = next;
  }
  if (covered < size) parts.push_back({.begin = covered, .end = size});
}

/// Writes each piece that is no added token anew by `write(changed, piece)`.
template <class Write>
void rewrite_pieces(Pieces& pieces, const Write& write) {
  AlignedText changed;
  changed.reserve(pieces.text.size() + pieces.list.size());
  for (Piece& piece : pieces.list) {
    const auto begin = static_cast<std::uint32_t>(changed.size());
    if (piece.added) {
      changed.append(pieces.text, piece.begin, piece.end);
    } else {
      write(changed, piece);
    }
    piece.begin = begin;
    piece.end = static_cast<std::uint32_t>(changed.size());
  }
  pieces.text = std::move(changed);
}

}  // namespace qkv::text
