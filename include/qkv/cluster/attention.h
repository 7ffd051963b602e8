// Attention over several machines: each rank holds some of the queries and some of the keys.
#pragma once

#include <cstdint>

#include "qkv/attention.h"
#include "qkv/backward.h"
#include "qkv/cluster/shares.h"
#include "qkv/cluster/transport.h"
#include "qkv/decode.h"

namespace qkv {

/// Whose bits a result has.
enum class Bits : std::uint8_t {
  of_ring,  // those of the ring: they depend on the shares, not on timing
  as_one,   // those of one machine, each rank computing the whole call: for those who debug
};

/// How ranks share a call. The same on all of them.
struct ClusterCall {
  SequenceShares queries;
  SequenceShares keys;  // of self-attention those of queries
  Bits bits = Bits::of_ring;
  std::int64_t step = 0;  // the caller's own count, by which ranks that have lost step are found out
};

/// attention() over all ranks: q [B, Hq, rows, D] are the queries that cluster.queries gives this rank, k [B, Hk, rows,
/// D] and v [B, Hk, rows, Dv] the keys that cluster.keys gives it; either may have no rows. Options are those of the
/// whole call, the same on all ranks: masks, biases, dropout and ragged offsets are of the whole Tq x Tk. Returns the
/// rows of this rank's queries, as attention() of one machine would.
///
/// Keys and values go round the ring of ranks, the way on which fewer rows are sent: the next ones are on their way
/// while some are looked at. Rows that no query of a rank or of a later one sees are not sent to it. The results of
/// blocks are merged by (out, lse), in f64, in the order in which they come: a rank's own, then those of the rank
/// before it (behind it, if that is the way round), and so on, kept in f32 (f64 for q of f64). Sinks count once. So
/// bits depend on the shares alone, for any number of threads and whatever is late.
///
/// All ranks call it, with the same shapes but for rows. Before any data they compare version, target, dtype, shapes,
/// shares, options and step: a difference is a ClusterError on every rank that names both. options.within, plan and
/// scratch must not be set. Throws InvalidArgument as attention() does, on the rank that is at fault, and ClusterError
/// on the others; ClusterError for a rank that is lost, which leaves the transport of no more use.
///
/// Allocates the result, once more in f32 if q has 16 bits, what a block gives, and the keys and values of two blocks
/// or, while ranks later in the ring are busy, of more. Bits::as_one allocates the whole call on each rank.
/// Liu et al. 2023, Ring Attention; merging: Dao et al. 2022, section 3.1.
[[nodiscard]] AttentionResult attention(Transport& transport, const ClusterCall& cluster, const TensorView& q,
                                        const TensorView& k, const TensorView& v, const AttentionOptions& options = {});

/// attention_backward() over all ranks: d_out, q, out and lse are the rows of this rank's queries, k and v those of its
/// keys, `out` and `lse` what attention() gave with the same arguments. Returns d_q for this rank's queries, d_k and
/// d_v for its keys; d_bias and d_sinks are those of the whole call, the same on every rank.
///
/// Gradients of a block of keys follow it from rank to rank and home, each adding its own, in f32 (f64 for q of f64);
/// those of biases and sinks are summed in f64, over ranks in a binary tree. backward.into and scratch must not be set.
/// Errors and allocations as of attention(), and in f32 the gradients of two blocks and of this rank's own rows.
[[nodiscard]] AttentionGradients attention_backward(Transport& transport, const ClusterCall& cluster,
                                                    const TensorView& d_out, const TensorView& q, const TensorView& k,
                                                    const TensorView& v, const TensorView& out, const TensorView& lse,
                                                    const AttentionOptions& options = {},
                                                    const BackwardOptions& backward = {});

/// decode() over all ranks: q [B, Hq, Tq, D] is the same on all of them, and each rank's cache holds some of the tokens
/// of each sequence, or none. options.within says where: one window for all sequences, or one for each, whose first_j
/// and step_j are this rank's own. All ranks get the whole result.
///
/// Partial results merge in a binomial tree over ranks, in f32 (f64 for q of f64). Before any data the ranks compare
/// what attention() does, q, and that their caches have as many tokens of each sequence as its window's Tk. Errors as
/// of attention(). Allocates the result and two partial ones.
[[nodiscard]] AttentionResult decode(Transport& transport, const TensorView& q, const KvCacheView& cache,
                                     const AttentionOptions& options = {});

}  // namespace qkv
