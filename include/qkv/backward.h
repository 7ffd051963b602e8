// The gradients of exact attention. docs/semantics.md writes down what they are for every option.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "qkv/attention.h"

namespace qkv {

/// Which gradients to compute; the others cost nothing.
struct GradientWants {
  bool q = true;
  bool k = true;
  bool v = true;
  bool bias = true;
  bool sinks = true;
};

/// The caller's memory for gradients, of the shape and dtype in AttentionGradients, or f32 where that has 16 bits, last
/// stride 1. Every element is written, and nothing between them. The rules for strides and memory are those of
/// attention_into() for out.
struct GradientPlaces {
  std::optional<MutableTensorView> d_q = std::nullopt;
  std::optional<MutableTensorView> d_k = std::nullopt;
  std::optional<MutableTensorView> d_v = std::nullopt;
};

struct BackwardOptions {
  std::optional<TensorView> d_lse = std::nullopt;  // [B, Hq, Tq], the dtype of lse: gradient of the loss w.r.t. lse
  GradientWants wants = {};
  GradientPlaces into = {};  // only for gradients in `wants`

  // Does not change the result. At least attention_backward_scratch_bytes(); if empty, the call allocates it.
  std::span<std::byte> scratch = {};
};

/// Empty tensors (Tensor::empty()): gradients not wanted, of inputs not given, or written into the caller's memory.
struct AttentionGradients {
  Tensor d_q;                  // [B, Hq, Tq, D], the dtype of q
  Tensor d_k;                  // [B, Hk, Tk, D], likewise
  Tensor d_v;                  // [B, Hk, Tk, Dv], likewise
  std::vector<Tensor> d_bias;  // one for each of options.bias.terms(): the shape of a dense bias's tensor, [buckets, H]
                               // of a T5 table, [H] of ALiBi's slopes. f64 if q is, else f32
  Tensor d_sinks;              // [Hq], f64 if q is, else f32
};

/// The gradients of a loss with respect to all inputs of attention(q, k, v, options), given that with respect to out,
/// d_out. `out` and `lse` are the results of that call, `options` its options: dropout drops the same weights.
/// d_out and out [B, Hq, Tq, Dv] of q's dtype, lse [B, Hq, Tq], f64 if q is, else f32; any strides.
///
/// With delta = sum of d_out * out - d_lse for each query: w = exp(score - lse), d_w = d_out v^T, times dropout's
/// factor, and d_score = w * (d_w - delta). The gradient of a dense bias is d_score summed over its broadcast axes,
/// those of T5's table and ALiBi's slopes are sums over the scores that use the element. If scores are so large that an
/// lse of f32 is too coarse, w is divided by its row's sum, unless lse covers more keys: docs/semantics.md.
///
/// A forbidden pair adds nothing to any gradient, and its q, k and v are not used: a NaN there does not spread. A row
/// that sees nothing and a key that no query sees get zeros.
///
/// With options.within, `out` and `lse` are those of the whole rows: gradients add up over windows, and d_bias has the
/// shapes of the whole call.
///
/// f64 runs on the reference: sums in f64 in a fixed order, each gradient rounded once. Other dtypes run on a fused
/// target: sums in f32 in a fixed order, so the same bits for any number of threads. The gradients of sinks and biases
/// are summed in f64, in passes of their own over tiles that are recomputed in f32; terms of a bias share a pass if the
/// same tasks can own their elements.
/// options.plan and options.plans are used, options.scratch is not: backward.scratch is.
///
/// Allocates the gradients, the plan of the mask and scratch, unless they are given or kept: for each thread, d_q of
/// one key head's queries in f32 and less than 4 MiB. Gradients of biases and sinks allocate a few tiles for each
/// thread beside; never T x T at once unless a bias is as large. Safe to call from several threads. Throws
/// InvalidArgument naming the argument or option before anything is computed. Dao et al. 2022, appendix B; Dao 2023,
/// algorithm 2.
[[nodiscard]] AttentionGradients attention_backward(const TensorView& d_out, const TensorView& q, const TensorView& k,
                                                    const TensorView& v, const TensorView& out, const TensorView& lse,
                                                    const AttentionOptions& options = {},
                                                    const BackwardOptions& backward = {});

/// The size of backward.scratch for a call with these arguments; 0 for the reference, and where no gradient of q, k or
/// v is wanted. Grows with the number of threads. With scratch, options.plan and places for its gradients,
/// attention_backward() allocates only a copy of the sinks. Throws as that does.
[[nodiscard]] std::size_t attention_backward_scratch_bytes(const TensorView& d_out, const TensorView& q,
                                                           const TensorView& k, const TensorView& v,
                                                           const TensorView& out, const TensorView& lse,
                                                           const AttentionOptions& options = {},
                                                           const BackwardOptions& backward = {});

}  // namespace qkv
