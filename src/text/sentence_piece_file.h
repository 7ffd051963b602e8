// A tokenizer.model: the message ModelProto of SentencePiece.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::text {

/// As the format numbers them.
enum class SentencePieceType : std::uint8_t { normal = 1, unknown, control, user_defined, unused, byte };
enum class SentencePieceModelType : std::uint8_t { unigram = 1, bpe, word, character };

struct SentencePiece {
  std::string text;  // UTF-8, not empty
  float score = 0;   // finite
  SentencePieceType type = SentencePieceType::normal;
};

/// NormalizerSpec.
struct SentencePieceRules {
  std::string charsmap;
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
};

struct SentencePieceFile {
  std::vector<SentencePiece> pieces;
  SentencePieceModelType model = SentencePieceModelType::unigram;
  bool byte_fallback = false;
  bool whitespace_as_suffix = false;
  std::string bos = "<s>";
  std::string eos = "</s>";
  std::string unknown_surface = " \u2047 ";
  SentencePieceRules normalizer;
  SentencePieceRules denormalizer{.charsmap = {}};
  std::optional<std::int32_t> unknown;       // the piece of this type
  std::array<std::int32_t, 256> bytes = {};  // the piece of each byte, with byte_fallback
};

/// Throws Error naming `source`, what was expected and what came, where the bytes are no such message, or one that
/// SentencePiece would refuse: pieces that are empty, there twice or of 8,000 bytes, scores that are not finite, no
/// piece for what is unknown.
[[nodiscard]] SentencePieceFile read_sentence_piece_file(std::string_view bytes, const std::string& source);

/// Whether a text may be cut into pieces of this type.
[[nodiscard]] constexpr bool stands_in_text(SentencePieceType type) noexcept {
  return type == SentencePieceType::normal || type == SentencePieceType::user_defined ||
         type == SentencePieceType::unused;
}

}  // namespace qkv::text
