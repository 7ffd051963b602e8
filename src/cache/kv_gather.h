// Keys and values of a cache as plain tensors.
#pragma once

#include "qkv/kv_cache.h"
#include "qkv/mask.h"

namespace qkv::kv_detail {

/// Copies the tokens of a range of sequence b to their places in keys [Hk, length, D] or [1, Hk, length, D], of a
/// floating dtype, rounded once.
void read_keys(const KvCacheView& cache, std::int64_t b, const KeyRange& tokens, Tensor& keys);
/// The same for values [Hk, length, Dv] or [1, Hk, length, Dv].
void read_values(const KvCacheView& cache, std::int64_t b, const KeyRange& tokens, Tensor& values);

}  // namespace qkv::kv_detail
