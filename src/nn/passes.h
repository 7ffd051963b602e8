// Counts passes through stacks of blocks, for tests of how many an answer takes.
#pragma once

#include <cstdint>

namespace qkv {

/// How often a stack of blocks ran on this thread, for any model, whatever called it: from its first block or from a
/// later one, over whole texts or over a cache. A pass of two towers, or of an encoder and a decoder, counts twice.
[[nodiscard]] std::int64_t passes_of_thread() noexcept;

}  // namespace qkv
