// Normalisers: what is done to a text before it is cut.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/aligned_text.h"
#include "text/json_field.h"

namespace qkv::text {

/// Immutable.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(AlignedText& text) const = 0;

 protected:
  Normalizer() = default;
  Normalizer(const Normalizer&) = default;
  Normalizer(Normalizer&&) = default;
  Normalizer& operator=(const Normalizer&) = default;
  Normalizer& operator=(Normalizer&&) = default;
};
using NormalizerPtr = std::shared_ptr<const Normalizer>;

/// "normalizer" of tokenizer.json. Throws Error naming a type or option that is not known.
[[nodiscard]] NormalizerPtr read_normalizer(const JsonField& field);

enum class UnicodeForm : std::uint8_t { nfc, nfd, nfkc, nfkd };
[[nodiscard]] NormalizerPtr unicode_normalizer(UnicodeForm form);
/// Applies one of the four forms of UAX 15.
void normalize(AlignedText& text, UnicodeForm form);

/// Lower case, one character after the other.
void lower(AlignedText& text);

[[nodiscard]] NormalizerPtr read_bert_normalizer(const JsonField& field);
/// SentencePiece's table of replacements ("precompiled_charsmap").
[[nodiscard]] NormalizerPtr read_precompiled(const JsonField& field);
/// "Replace": a text or a regular expression by a text.
[[nodiscard]] NormalizerPtr read_replace(const JsonField& field);

}  // namespace qkv::text
