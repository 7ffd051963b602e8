// Decoders: the text of a list of pieces.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/json_field.h"

namespace qkv::text {

/// Immutable.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Takes out of pieces what a tokenizer marks in them (spaces, continued words): joined, they are the text.
  virtual void apply(std::vector<std::string>& pieces) const = 0;
  /// The bytes of a piece by itself, where pieces are written in characters that stand for bytes.
  [[nodiscard]] virtual std::string bytes(const std::string& piece) const { return piece; }

 protected:
  Decoder() = default;
  Decoder(const Decoder&) = default;
  Decoder(Decoder&&) = default;
  Decoder& operator=(const Decoder&) = default;
  Decoder& operator=(Decoder&&) = default;
};
using DecoderPtr = std::shared_ptr<const Decoder>;

/// "decoder" of tokenizer.json. Throws Error naming a type or option that is not known.
[[nodiscard]] DecoderPtr read_decoder(const JsonField& field);

}  // namespace qkv::text
