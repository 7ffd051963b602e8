// What is asked of a model that writes, and of how it is to write.
#pragma once

#include <string_view>

#include "qkv/model/write_text.h"

namespace qkv {

/// Throws InvalidArgument, said by `function`, naming model, most, beams or stops.
void require_writing(std::string_view function, const TextModel& model, const WriteOptions& options);

/// Of the keys and values of a text that a decoder has read so many tokens of, of which `draw` keeps the last ones; 0
/// of other models.
[[nodiscard]] std::int64_t cache_bytes_of(const TextModel& model, std::int64_t tokens, const GenerateOptions& draw);

}  // namespace qkv
