// Counts what the whole program allocates with new, the library included.
#pragma once

namespace qkv::testing_attention {

/// How often memory was allocated so far.
[[nodiscard]] long allocations();

}  // namespace qkv::testing_attention
