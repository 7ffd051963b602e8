// Counts passes over whole models, so that tests can hold an answer to as few as it needs.
#pragma once

#include <cstdint>

namespace qkv {

/// Passes over a whole model that Model::forward(), states() and run() have made on this thread, of any model;
/// generate() and read_out() are not counted.
[[nodiscard]] std::int64_t passes_of_thread() noexcept;

}  // namespace qkv
