// What a model loses without a head.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "insight/text_batch.h"

namespace qkv::insight {

/// heads [B, H, T, D] with the output of one times 0, of the others times 1: for an edit of "<attention>.heads".
[[nodiscard]] Variable without_head(const Variable& heads, std::int64_t removed);

/// Adds loss, removal and gradient to an analysis whose heads are there.
void add_importance(const Model& model, std::span<const HeadText> texts, const HeadOptions& options,
                    HeadAnalysis& analysis);

}  // namespace qkv::insight
