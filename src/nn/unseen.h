// What a layer with a window need not keep in its cache.
#pragma once

#include <cstdint>

#include "qkv/kv_cache.h"

namespace qkv::nn {

/// The most tokens that forget_unseen() leaves.
[[nodiscard]] std::int64_t most_held(std::int64_t window);

/// Makes room for `tokens` more tokens of each sequence: storage grows to twice its size, or as far as it must.
void make_room(KvCache& cache, std::int64_t tokens);

/// Forgets the tokens that no later one sees, but for some, so that a text may go on from a little earlier than its end
/// and contiguous storage is not moved at each token. Storage for far more tokens than are left is given back.
void forget_unseen(KvCache& cache, std::int64_t window);

}  // namespace qkv::nn
