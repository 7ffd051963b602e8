// Tokenizers that cut a text at characters or at words: a list of pieces, each of which must be known.
#pragma once

#include "qkv/text/tokenizer.h"

namespace qkv {

enum class TextForm : std::uint8_t {
  letters,     // a token is a character of UTF-8: "abc"; spaces are left out
  words,       // a token is a word; a space or an apostrophe ends it: "l'homme dort"
  characters,  // a token is a character of UTF-8, a space too
};
/// "letters", "words", "characters"
[[nodiscard]] std::string_view name_of(TextForm form) noexcept;

/// No token is special: none is put into a text, and all are shown. decode() is the counterpart of encode(): words have
/// a space between them, but none after an apostrophe.
/// In `letters` and `words`, tokens in angle brackets are read as one: "<pad>". In `characters`, a character that is no
/// piece is read as "<unknown>" if there is such a piece.
class Vocabulary final : public Tokenizer {
 public:
  /// Throws InvalidArgument for a piece that is there twice.
  Vocabulary(std::vector<std::string> pieces, TextForm form);

  [[nodiscard]] TextForm form() const noexcept { return form_; }

  [[nodiscard]] std::int64_t size() const noexcept override { return static_cast<std::int64_t>(pieces_.size()); }
  [[nodiscard]] const std::string& piece(std::int32_t id) const override;
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view piece) const noexcept override;
  /// "kind", the name of the form, and "pieces".
  [[nodiscard]] std::map<std::string, std::string> config() const override;

 private:
  [[nodiscard]] Encoding encode_text(std::string_view text, const EncodeOptions& options) const override;
  [[nodiscard]] std::string decode_ids(std::span<const std::int32_t> ids, SpecialTokens special) const override;
  [[nodiscard]] std::int32_t id_in_text(std::string_view piece) const;

  std::vector<std::string> pieces_;
  std::vector<std::int32_t> by_text_;  // token numbers, sorted by their pieces
  TextForm form_;
};

}  // namespace qkv
