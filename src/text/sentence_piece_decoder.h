// The text of SentencePiece's tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "text/sentence_piece_file.h"
#include "text/sentence_piece_normalizer.h"

namespace qkv::text {

/// The piece behind the text, with blanks for its marks.
void append_with_spaces(std::string& text, std::string_view piece);

class SentencePieceDecoder {
 public:
  /// The file is borrowed. `source` names it in errors.
  SentencePieceDecoder(const SentencePieceFile& file, const std::string& source);

  /// Of ids of the file. Control pieces are not shown. A blank that add_dummy_prefix put in goes where the text begins.
  [[nodiscard]] std::string text_of(std::span<const std::int32_t> ids, bool begins) const;

 private:
  [[nodiscard]] bool show(std::int32_t id, bool is_first, std::string& text) const;

  const SentencePieceFile& file_;
  std::optional<SentencePieceNormalizer> denormalizer_;
};

}  // namespace qkv::text
