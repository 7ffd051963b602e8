// Attention over a cache of keys and values.
#pragma once

#include <cstddef>

#include "qkv/attention.h"
#include "qkv/kv_cache.h"

namespace qkv {

/// attention() of each sequence's newest queries over its cached keys: q [B, Hq, Tq, D] of any floating dtype, Tq new
/// tokens a sequence, whose keys and values are in the cache already. The cache may be of another dtype. Each sequence
/// has its own Tk = cache.length(b), which masks and biases see with b and B: bottom-right alignment, the default, puts
/// the last query at the sequence's last key. As everywhere, queries see what the mask lets them see: with Tq > 1 that
/// is causal() as a rule. Returns out [B, Hq, Tq, Dv] of q's dtype and lse [B, Hq, Tq].
///
/// Tokens in blocks of 64 that the mask hides from every query of a sequence are not read: under window(w) & causal()
/// all but the last w or so. f64 runs on the reference, which copies what is visible to f64; the fused targets read the
/// cache where it lies, and turn i8 into f32 as they go.
///
/// Allocates the result, a plan for each length, and scratch unless options.scratch is given. Throws InvalidArgument,
/// before anything is written, naming q, cache or the option; ragged and plan have no meaning here, and scratch may not
/// reach over q, the cache's buffers, scales or page table.
[[nodiscard]] AttentionResult decode(const TensorView& q, const KvCacheView& cache,
                                     const AttentionOptions& options = {});

/// The same into the caller's memory, as attention_into() does: out [B, Hq, Tq, Dv] of q's dtype, last stride 1, and
/// lse [B, Hq, Tq], f64 if q is, else f32. Allocates no result. Throws as decode() does, and for an out or lse of
/// another shape or dtype, one two of whose elements share a place, and memory that overlaps: of out, lse and scratch
/// no two, nor one of them and what the call reads, may reach over a common byte.
void decode_into(const MutableTensorView& out, const MutableTensorView& lse, const TensorView& q,
                 const KvCacheView& cache, const AttentionOptions& options = {});

/// Bytes of options.scratch that let a call with these arguments do without its own.
[[nodiscard]] std::size_t decode_scratch_bytes(const TensorView& q, const KvCacheView& cache,
                                               const AttentionOptions& options = {});

}  // namespace qkv
