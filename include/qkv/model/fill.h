// What stands in the gaps of a text, by an encoder that learned to say it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "qkv/model/embed.h"
#include "qkv/model/text_model.h"

namespace qkv {

/// fill_masks() at each "[MASK]" or "<mask>"; of a model that learned one of our tasks, at each token that the task
/// asks about: "<be>" of english. Throws InvalidArgument naming model if it is no encoder that says tokens, or text as
/// TextModel::example_of(), and if it has no gap, with what a gap is.
[[nodiscard]] std::vector<FilledMask> fill_gaps(const TextModel& model, std::string_view text, std::int64_t count);

}  // namespace qkv
