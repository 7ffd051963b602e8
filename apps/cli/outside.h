// Texts that a model's task does not draw.
#pragma once

#include <string>
#include <string_view>

#include "qkv/model/text_model.h"

namespace qkv::cli {

/// A line on standard error for each thing that lies outside: a model may answer anything where it never learned to.
/// The text is one that the model reads; one that reads pictures is not asked.
void warn_outside(std::string_view command, const TextModel& model, const std::string& text);

}  // namespace qkv::cli
