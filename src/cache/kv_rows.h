// The rows of a cache in the form of the kernels.
#pragma once

#include "kernels/kv_rows.h"
#include "qkv/kv_cache.h"

namespace qkv {

/// The keys, respectively the values, of head h of sequence b, which has at least one token.
[[nodiscard]] kernels::KvRows key_rows(const KvCacheView& cache, std::int64_t b, std::int64_t h);
[[nodiscard]] kernels::KvRows value_rows(const KvCacheView& cache, std::int64_t b, std::int64_t h);

}  // namespace qkv
