// English sentences with their trees, out of the task english.
#pragma once

#include <cstdint>
#include <vector>

#include "qkv/text/syntax.h"

namespace qkv {

/// The first `count` held-out sentences of the task english, with their trees and pronouns. Throws InvalidArgument
/// naming count.
[[nodiscard]] std::vector<ParsedSentence> english_trees(std::int64_t count);

}  // namespace qkv
