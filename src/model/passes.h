// How many passes an answer costs.
#pragma once

#include <cstdint>

namespace qkv {

/// Passes over a whole model that Model::forward(), states() and run() have made on this thread, of any model.
[[nodiscard]] std::int64_t passes_of_thread() noexcept;

}  // namespace qkv
