// How examples stand side by side for one model.
#pragma once

#include <cstdint>
#include <span>

#include "qkv/model/batch.h"

namespace qkv {

struct BatchForm {
  BatchLayout layout = BatchLayout::apart;
  TextLengths lengths;
  bool has_source = false;         // of which lengths may not say how long it is
  std::int64_t source_offset = 0;  // joined_source_offset()
};

[[nodiscard]] std::int64_t joined_source_offset(const Tokenizer& tokens, const Tokenizer& source);

/// Throws InvalidArgument naming examples if there are none.
[[nodiscard]] Batch batch_of(const BatchForm& form, std::span<const Example> examples);

}  // namespace qkv
