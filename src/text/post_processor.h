// Post-processors: special tokens around one or two texts, types of tokens, and trimmed offsets.
#pragma once

#include <memory>
#include <vector>

#include "text/encoded_part.h"
#include "text/json_field.h"

namespace qkv::text {

/// Immutable.
class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  /// `parts` are one or two texts, and what other post-processors have put around them.
  virtual void apply(std::vector<EncodedPart>& parts, SpecialTokens special) const = 0;
  /// Whether EncodedPart::blanks is looked at.
  [[nodiscard]] virtual bool trims() const noexcept { return false; }

 protected:
  PostProcessor() = default;
  PostProcessor(const PostProcessor&) = default;
  PostProcessor(PostProcessor&&) = default;
  PostProcessor& operator=(const PostProcessor&) = default;
  PostProcessor& operator=(PostProcessor&&) = default;
};
using PostProcessorPtr = std::shared_ptr<const PostProcessor>;

/// "post_processor" of tokenizer.json; ids are below `size`. Throws Error naming a type or option that is not known.
[[nodiscard]] PostProcessorPtr read_post_processor(const JsonField& field, std::int32_t size);

}  // namespace qkv::text
