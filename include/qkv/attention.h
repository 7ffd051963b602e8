// Exact attention. docs/semantics.md writes down what every option means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "qkv/bias.h"
#include "qkv/cancel.h"
#include "qkv/mask.h"
#include "qkv/mask_plans.h"
#include "qkv/random.h"
#include "qkv/stage.h"
#include "qkv/tensor.h"
#include "qkv/tile_plan.h"

namespace qkv {

/// Documents packed end to end: queries q_offsets[n] to q_offsets[n + 1] attend to keys k_offsets[n] to
/// k_offsets[n + 1], and to nothing else. Both start at 0, do not decrease, and end at Tq and Tk: FlashAttention's
/// cu_seqlens. q and k then have B = 1; masks, biases and dropout see document n as batch entry n of as many as there
/// are documents, with its own Tq and Tk.
struct Ragged {
  std::vector<std::int64_t> q_offsets;
  std::vector<std::int64_t> k_offsets;
};

struct AttentionOptions {                        // name members in this order: C++ refuses {.mask = …, .scale = …}
  std::optional<double> scale = std::nullopt;    // finite; default: 1 / sqrt(D)
  std::optional<double> softcap = std::nullopt;  // finite and > 0
  Bias bias = {};
  Mask mask = {};
  std::optional<Dropout> dropout = std::nullopt;
  std::vector<double> sinks = {};  // one finite logit for each query head, or none
  std::optional<Ragged> ragged = std::nullopt;
  std::vector<MatrixWindow> within = {};  // where q and k lie in a larger matrix: none, one, or one for each document
                                          // of ragged and each sequence of decode()

  // How the call runs. These do not change the result, except that each target rounds in its own way.
  std::optional<int> threads = std::nullopt;  // >= 1; default: qkv::threads()
  std::span<std::byte> scratch = {};          // at least attention_scratch_bytes(); if empty, the call allocates it
  std::string_view target = {};               // one of cpu_targets(); if empty, the chosen one
  const TilePlan* plan = nullptr;             // a plan of this mask over [B, Hq, Tq, Tk] in tiles of 64 x 64, to
                                              // reuse; of within(mask, window) in a window
  std::shared_ptr<MaskPlans> plans = {};      // where plans are kept for other calls, ragged ones too; not by decode()
  CallWatch watch = {};                       // may stop the call; a probe takes one of its own for each pass
};

struct AttentionResult {
  Tensor out;  // [B, Hq, Tq, Dv], the dtype of q
  Tensor lse;  // [B, Hq, Tq], log of the sum of exp of the masked scores and of the head's sink; -inf if there is
               // neither. f64 if q is, else f32
};

/// dropout(softmax(mask(softcap(scale * q k^T) + bias))) v.
/// q [B, Hq, Tq, D], k [B, Hk, Tk, D], v [B, Hk, Tk, Dv], all of one floating dtype, any strides; Hq a multiple of Hk,
/// query head h reads key head h / (Hq / Hk). B, Tq, Tk and Dv may be 0.
///
/// A pair is forbidden if the mask hides it or its biased score is -inf. It has no weight and its k and v are not used,
/// so a NaN there does not reach the row. A row that sees nothing gives zeros and lse -inf. A visible NaN or +inf score
/// makes the row and its lse NaN.
///
/// A sink is the score of one more key, with value zero, that every query of its head sees: weights sum to less than 1,
/// and a row that sees nothing gives zeros and the sink as its lse (Xiao et al. 2024).
///
/// With options.within, q and k are a window of a larger matrix: masks, biases and dropout are those of the whole
/// matrix, dense ones with its extents, and the diagonal is where it is in it. out and lse are of the window's keys
/// alone; merge_attention() makes the whole result of those of several windows of keys. A sink counts in each call that
/// is given it: give it to one of them. With options.ragged, each document is a window of a matrix of its own.
///
/// f64 runs on the reference: sums in f64, in the order of the keys, rounded once. Other dtypes run on a fused target:
/// sums in f32 in a fixed order, so the same bits for any number of threads; never T x T numbers at once. Safe to call
/// from several threads. Allocates the result, the plan of the mask and scratch, unless they are given or kept. Throws
/// InvalidArgument naming the argument or option before anything is written.
/// Vaswani et al. 2017, section 3.2.
[[nodiscard]] AttentionResult attention(const TensorView& q, const TensorView& k, const TensorView& v,
                                        const AttentionOptions& options = {});

/// The same, writing into the caller's memory: out [B, Hq, Tq, Dv] of q's dtype, or f32 if that has 16 bits, last
/// stride 1, and lse [B, Hq, Tq], f64 if q is, else f32 or f64. Every element of both is written, and nothing between
/// them. Throws as attention() does, and if out or lse has another shape or dtype, has two elements at one address, or
/// if out, lse and scratch overlap each other or q, k or v. A view extends from its lowest byte to its highest. So
/// interleaved views count as overlapping.
void attention_into(const MutableTensorView& out, const MutableTensorView& lse, const TensorView& q,
                    const TensorView& k, const TensorView& v, const AttentionOptions& options = {});

/// What attention() gave for one of several windows of the keys of a call: out [B, Hq, Tq, Dv], lse [B, Hq, Tq].
struct PartialAttention {
  TensorView out;
  TensorView lse;
};

/// The result over the keys of all parts, which share no key and have the same queries: lse = log of the sum of
/// exp(lse_n), out = sum of exp(lse_n - lse) out_n. A part that saw nothing (lse -inf) is not read; a row that no part
/// saw gives zeros and lse -inf; a part's lse of NaN makes the row NaN. All out of one floating dtype, lse f64 if that
/// is f64, else f32 or f64; any strides. The result has the out's dtype, and lse f64 if that is f64, else f32.
///
/// Sums in f64, in the order of the parts, rounded once, so the same bits for any number of threads (by default
/// qkv::threads()). An lse in f32 is off by up to 2^-24 |lse|, and out by as much relative to its largest part: write
/// those of parts in f64, by attention_into() or decode_into().
/// Allocates the result, and a row and a number for each part for each task of 64 rows. Throws InvalidArgument naming
/// parts or threads. Dao et al. 2022, section 3.1; FlashInfer (Ye et al. 2025), section 2.2.
[[nodiscard]] AttentionResult merge_attention(std::span<const PartialAttention> parts,
                                              std::optional<int> threads = std::nullopt);

/// The same, writing into the caller's memory: out of any floating dtype, last stride 1, and lse f64 if the parts' out
/// is, else f32 or f64. out and lse may be those of a part, all of it; apart from that the rules are those of
/// attention_into().
void merge_attention_into(const MutableTensorView& out, const MutableTensorView& lse,
                          std::span<const PartialAttention> parts, std::optional<int> threads = std::nullopt);

/// The size of options.scratch for a call with these arguments; 0 for the reference, which allocates a few rows of Tk.
/// Grows with the number of threads that have work. With scratch and options.plan, attention_into() allocates only a
/// copy of the sinks. Ragged batches take no options.plan; options.plans keeps theirs.
[[nodiscard]] std::size_t attention_scratch_bytes(const TensorView& q, const TensorView& k, const TensorView& v,
                                                  const AttentionOptions& options = {});

/// The name of the target whose kernels serve a call on q, k and v of `dtype` with these options: "reference" for f64,
/// and the chosen target's substitute where it leaves this dtype to it, or is made for products or caches of i8 alone.
/// docs/semantics.md lists what each leaves. Throws InvalidArgument for a dtype that is not floating and for an
/// unavailable target.
[[nodiscard]] std::string_view attention_target(DType dtype, const AttentionOptions& options = {});

/// One T x T intermediate as a tensor [B, Hq, Tq, Tk] of `dtype`: this one does allocate T x T.
/// In `raw`, `scaled`, `softcapped` and `biased`, hidden pairs hold their scores (their k is read); from `masked` on
/// they are -inf or 0. Computed by the reference, in f64. Throws as attention() does, for a dtype that is not floating,
/// and for a ragged batch: call it on the slices of a document.
[[nodiscard]] Tensor attention_stage(const TensorView& q, const TensorView& k, const AttentionOptions& options,
                                     Stage stage, DType dtype = DType::f64);

/// Several intermediates from one pass over the scores, in the order of `stages`.
[[nodiscard]] std::vector<Tensor> attention_stages(const TensorView& q, const TensorView& k,
                                                   const AttentionOptions& options, std::initializer_list<Stage> stages,
                                                   DType dtype = DType::f64);

}  // namespace qkv
