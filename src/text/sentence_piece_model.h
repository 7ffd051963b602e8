// The four models of SentencePiece: how a normalised text is cut into pieces.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "text/piece_tree.h"
#include "text/sentence_piece_file.h"
#include "text/subword_model.h"

namespace qkv::text {

/// The id of what is no piece.
inline constexpr std::int32_t kNoPiece = -1;

/// Immutable; any thread may use it.
class SentencePieceModel {
 public:
  virtual ~SentencePieceModel() = default;
  /// Appends the tokens of a text in valid UTF-8, which cover it.
  virtual void cut(std::string_view text, std::vector<SubwordToken>& tokens) const = 0;

 protected:
  SentencePieceModel() = default;
  SentencePieceModel(const SentencePieceModel&) = default;
  SentencePieceModel(SentencePieceModel&&) = default;
  SentencePieceModel& operator=(const SentencePieceModel&) = default;
  SentencePieceModel& operator=(SentencePieceModel&&) = default;
};
using SentencePieceModelPtr = std::shared_ptr<const SentencePieceModel>;

[[nodiscard]] SentencePieceModelPtr sentence_piece_model(const SentencePieceFile& file);

[[nodiscard]] SentencePieceModelPtr sentence_piece_unigram(const SentencePieceFile& file);
[[nodiscard]] SentencePieceModelPtr sentence_piece_bpe(const SentencePieceFile& file);

/// The pieces of these types.
[[nodiscard]] PieceTree tree_of(const SentencePieceFile& file, std::initializer_list<SentencePieceType> types);

}  // namespace qkv::text
