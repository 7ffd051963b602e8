// Models: how a piece of text is cut into tokens of a vocabulary.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/json_field.h"
#include "text/piece_table.h"

namespace qkv::text {

/// A token and the bytes [begin, end) of the piece that it stands for.
struct SubwordToken {
  std::int32_t id = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Immutable.
class SubwordModel {
 public:
  virtual ~SubwordModel() = default;
  /// Appends the tokens of a piece of valid UTF-8 that is not empty. Throws Error where the vocabulary has no token for
  /// what is unknown.
  virtual void cut(std::string_view piece, std::vector<SubwordToken>& tokens) const = 0;
  [[nodiscard]] virtual const PieceTable& pieces() const noexcept = 0;

 protected:
  SubwordModel() = default;
  SubwordModel(const SubwordModel&) = default;
  SubwordModel(SubwordModel&&) = default;
  SubwordModel& operator=(const SubwordModel&) = default;
  SubwordModel& operator=(SubwordModel&&) = default;
};
using SubwordModelPtr = std::shared_ptr<const SubwordModel>;

/// Where merges stand, and what has their pieces, for errors.
struct MergePlace {
  std::string list, vocabulary;
};

/// Byte-pair encoding by a list of merges, "a b". Throws Error naming `place` and the number of one that is not two
/// pieces, or whose pieces, alone or together, are not in the vocabulary.
[[nodiscard]] SubwordModelPtr make_bpe(PieceTable pieces, std::span<const std::string> merges, bool ignore_merges,
                                       const MergePlace& place);

struct WordPieceOptions {
  std::string unknown;
  std::string prefix;  // of pieces that go on with a word
  std::int64_t longest_word = 100;
};
[[nodiscard]] SubwordModelPtr make_word_piece(PieceTable pieces, const WordPieceOptions& options);

/// "model" of tokenizer.json. Throws Error naming a type or option that is not known.
[[nodiscard]] SubwordModelPtr read_subword_model(const JsonField& field);

[[nodiscard]] SubwordModelPtr read_bpe(const JsonField& field);
[[nodiscard]] SubwordModelPtr read_unigram(const JsonField& field);
[[nodiscard]] SubwordModelPtr read_word_piece(const JsonField& field);
[[nodiscard]] SubwordModelPtr read_word_level(const JsonField& field);

/// The error of a piece for which there is no token.
[[noreturn]] void fail_unknown(std::string_view model, std::string_view piece);

}  // namespace qkv::text
