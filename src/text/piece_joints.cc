#include "text/piece_joints.h"

#include "text/characters.h"

namespace qkv::text {

PieceJoints::Character PieceJoints::character(std::string_view text, std::size_t at) noexcept {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < kAscii) return {.kind = byte, .length = 1};
  const bool is_space = text.substr(at).starts_with(kBlankMark);
  return {.kind = is_space ? kSpace : kOther, .length = character_length(text[at])};
}

void PieceJoints::add(std::string_view piece) noexcept {
  Character last = character(piece, 0);
  for (std::size_t at = last.length; at < piece.size();) {
    const Character next = character(piece, at);
    holds_[last.kind].set(next.kind);
    last = next;
    at += next.length;
  }
}

}  // namespace qkv::text
