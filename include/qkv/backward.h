// The gradients of exact attention. docs/semantics.md writes down what they are for every option.
#pragma once

#include <optional>
#include <vector>

#include "qkv/attention.h"

namespace qkv {

/// The gradients that a call is to compute; those left out cost nothing.
struct GradientWants {
  bool q = true;
  bool k = true;
  bool v = true;
  bool bias = true;
  bool sinks = true;
};

/// Memory of the caller for gradients, of the shape and dtype that AttentionGradients says, last stride 1. Every
/// element is written, and nothing between them. Strides and memory are held to what attention_into() asks of out.
struct GradientPlaces {
  std::optional<MutableTensorView> d_q = std::nullopt;
  std::optional<MutableTensorView> d_k = std::nullopt;
  std::optional<MutableTensorView> d_v = std::nullopt;
};

struct BackwardOptions {
  std::optional<TensorView> d_lse = std::nullopt;  // [B, Hq, Tq], the dtype of lse: the loss's gradient by lse
  GradientWants wants = {};
  GradientPlaces into = {};  // of gradients that are wanted
};

/// What is not wanted, has nothing to stand for or went into the caller's memory is an empty tensor (Tensor::empty()).
struct AttentionGradients {
  Tensor d_q;                  // [B, Hq, Tq, D], the dtype of q
  Tensor d_k;                  // [B, Hk, Tk, D], likewise
  Tensor d_v;                  // [B, Hk, Tk, Dv], likewise
  std::vector<Tensor> d_bias;  // one for each of options.bias.terms(): the shape of a dense bias's tensor, [buckets, H]
                               // of a T5 table, [H] of ALiBi's slopes. f64 if q is, else f32
  Tensor d_sinks;              // [Hq], f64 if q is, else f32
};

/// The gradients of a loss by everything that attention(q, k, v, options) was computed from, given the loss's gradient
/// d_out by its out. `out` and `lse` are its results, `options` those of that call: dropout drops the same weights.
/// d_out and out [B, Hq, Tq, Dv] of q's dtype, lse [B, Hq, Tq], f64 if q is, else f32; any strides.
///
/// With delta = sum of d_out * out - d_lse for each query: w = exp(score - lse), d_w = d_out v^T, times dropout's
/// factor, and d_score = w * (d_w - delta). A dense bias's gradient is d_score summed over what its tensor is repeated
/// along; T5's and ALiBi's are summed over the scores that use a number. Where scores are so large that an lse of f32
/// is too coarse, w is divided by its row's own sum, unless lse is that of more keys; docs/semantics.md says when.
///
/// A forbidden pair adds nothing to any gradient, and its q, k and v are not used: a NaN there does not spread. A row
/// that sees nothing and a key that no query sees get zeros.
///
/// f64 runs on the reference: sums in f64 in a fixed order, each gradient rounded once. Other dtypes run on a fused
/// target: sums in f32 in a fixed order, so the same bits for any number of threads. Sinks and each term of the bias
/// have a walk of their own, over tiles that are made again in f32, and add in f64. options.plan is used,
/// options.scratch is not.
///
/// Allocates the gradients, the plan of the mask, and, for each thread, d_q of one key head's queries in f32 and less
/// than 4 MiB; never T x T at once unless a bias is as large. Safe to call from several threads. Throws InvalidArgument
/// naming the argument or option before anything is computed.
/// Dao et al. 2022, appendix B; Dao 2023, algorithm 2.
[[nodiscard]] AttentionGradients attention_backward(const TensorView& d_out, const TensorView& q, const TensorView& k,
                                                    const TensorView& v, const TensorView& out, const TensorView& lse,
                                                    const AttentionOptions& options = {},
                                                    const BackwardOptions& backward = {});

}  // namespace qkv
