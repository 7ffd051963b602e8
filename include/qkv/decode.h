// Attention over a cache of keys and values.
#pragma once

#include <cstddef>

#include "qkv/attention.h"
#include "qkv/kv_cache.h"

namespace qkv {

/// attention() of the newest queries of each sequence over its cached keys: q [B, Hq, Tq, D] of any floating dtype, Tq
/// new tokens per sequence. Append their keys and values to the cache first. The cache may be of another dtype. Each
/// sequence has its own Tk = cache.length(b), which masks and biases see with b and B: bottom-right alignment, the
/// default, puts the last query at the sequence's last key. With Tq > 1 the mask is usually causal(). Returns out [B,
/// Hq, Tq, Dv] of q's dtype and lse [B, Hq, Tq].
///
/// Blocks of 64 tokens that the mask hides from every query of a sequence are not read: under window(w) & causal() only
/// about the last w tokens are. f64 runs on the reference, which copies visible tokens to f64; the fused targets read
/// the cache in place, and convert a tile of 64 tokens at a time.
///
/// Keys that sequences share, that is the same pages at the beginning of their tables, are read once for all of their
/// queries, from 256 tokens on (Juravsky et al. 2024): where every query sees them, without bias and dropout. A
/// sequence's result then differs by rounding from what it is beside other sequences.
///
/// With options.within, a cache holds the window's keys instead of the first ones, and q its queries: one window for
/// all sequences, or one for each. So the tokens of a sequence may lie in several caches; merge_attention() merges what
/// each gives.
///
/// Allocates the result, a plan for each length, lists of what is shared, and scratch unless options.scratch is given.
/// Throws InvalidArgument, before anything is written, naming q, cache or the option; ragged and plan must not be set,
/// and scratch must not overlap q, the cache's buffers, scales or page table.
[[nodiscard]] AttentionResult decode(const TensorView& q, const KvCacheView& cache,
                                     const AttentionOptions& options = {});

/// The same into the caller's memory, as attention_into() does: out [B, Hq, Tq, Dv] of q's dtype, or f32 if that has 16
/// bits, last stride 1, and lse [B, Hq, Tq], f64 if q is, else f32 or f64. Allocates no result. Throws as decode()
/// does, and if out or lse has another shape or dtype, has two elements at one address, or if out, lse and scratch
/// overlap each other or what the call reads.
void decode_into(const MutableTensorView& out, const MutableTensorView& lse, const TensorView& q,
                 const KvCacheView& cache, const AttentionOptions& options = {});

/// The size of options.scratch for a call with these arguments.
[[nodiscard]] std::size_t decode_scratch_bytes(const TensorView& q, const KvCacheView& cache,
                                               const AttentionOptions& options = {});

}  // namespace qkv
