// Pre-tokenisers: how a text is cut into words before the model cuts those into tokens.
#pragma once

#include <memory>

#include "text/json_field.h"
#include "text/pieces.h"

namespace qkv::text {

/// Immutable.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void apply(Pieces& pieces) const = 0;

 protected:
  PreTokenizer() = default;
  PreTokenizer(const PreTokenizer&) = default;
  PreTokenizer(PreTokenizer&&) = default;
  PreTokenizer& operator=(const PreTokenizer&) = default;
  PreTokenizer& operator=(PreTokenizer&&) = default;
};
using PreTokenizerPtr = std::shared_ptr<const PreTokenizer>;

/// "pre_tokenizer" of tokenizer.json. Throws Error naming a type or option that is not known.
[[nodiscard]] PreTokenizerPtr read_pre_tokenizer(const JsonField& field);

/// "ByteLevel" and "Metaspace", which write a text anew.
[[nodiscard]] PreTokenizerPtr read_byte_level(const JsonField& field);
[[nodiscard]] PreTokenizerPtr read_metaspace(const JsonField& field);

/// Where "Metaspace" puts its character in front; of the decoder, too.
enum class PrependScheme : std::uint8_t { always, first, never };
struct MetaspaceOptions {
  char32_t replacement = 0x2581;  // "▁"
  PrependScheme prepend = PrependScheme::always;
  bool split = true;
};
[[nodiscard]] MetaspaceOptions read_metaspace_options(const JsonField& field);

/// {"String": …} or {"Regex": …}: a text that is matched as it is, or a regular expression.
[[nodiscard]] Regex read_pattern(const JsonField& field);

}  // namespace qkv::text
