// The lines of a file as texts of a model whose heads are looked at.
#pragma once

#include <string>

#include "qkv/insight/texts.h"

namespace qkv::cli {

/// Empty lines are left out. What is wrong with a line is said of that line, all else of the option.
[[nodiscard]] HeadTexts texts_of_lines(const TextModel& trained, const std::string& option, const std::string& path);

}  // namespace qkv::cli
