// Counts passes over whole models, for tests of how many an answer takes.
#pragma once

#include <cstdint>

namespace qkv {

/// How often Model::forward(), states() and run() were called on this thread, for any model. generate() and read_out()
/// do not count.
[[nodiscard]] std::int64_t passes_of_thread() noexcept;

}  // namespace qkv
