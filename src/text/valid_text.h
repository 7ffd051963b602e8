// Bytes as valid UTF-8, with the places of what was none.
#pragma once

#include <utf8.h>

#include <cstddef>
#include <optional>
#include <string_view>

#include "qkv/text/tokenizer.h"
#include "text/aligned_text.h"

namespace qkv::text {

/// A text as valid UTF-8: itself, or with U+FFFD for what is none. Borrows the text.
class ValidText {
 public:
  explicit ValidText(std::string_view text) : text_(text) {
    if (!utf8::is_valid(text.begin(), text.end())) written_.emplace(text, 0, text.size());
  }
  [[nodiscard]] std::string_view text() const noexcept { return written_ ? std::string_view(written_->text()) : text_; }
  /// The bytes of the text as it came.
  [[nodiscard]] TextRange origin(std::size_t begin, std::size_t end) const noexcept {
    if (!written_) return {.begin = begin, .end = end};
    if (begin < end) {
      const OriginalRange range = written_->origin(begin, end);
      return {.begin = range.begin, .end = range.end};
    }
    const std::size_t at = begin < written_->size() ? written_->origin(begin).begin : text_.size();
    return {.begin = at, .end = at};
  }

 private:
  std::string_view text_;
  std::optional<AlignedText> written_;
};

}  // namespace qkv::text
