// What a model loses without a head.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "insight/text_batch.h"

namespace qkv::insight {

/// Adds loss, removal and gradient to an analysis whose heads are there.
void add_importance(const Model& model, std::span<const HeadText> texts, const HeadOptions& options,
                    HeadAnalysis& analysis);

}  // namespace qkv::insight
