// Exact attention. docs/semantics.md writes down what every option means.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "qkv/bias.h"
#include "qkv/mask.h"
#include "qkv/random.h"
#include "qkv/stage.h"
#include "qkv/tensor.h"

namespace qkv {

struct AttentionOptions {
  std::optional<double> scale = std::nullopt;    // finite; 1 / sqrt(D) where not given
  std::optional<double> softcap = std::nullopt;  // finite and > 0
  Bias bias = {};
  Mask mask = {};
  std::optional<Dropout> dropout = std::nullopt;
  std::vector<double> sinks = {};             // one finite logit for each query head, or none
  std::optional<int> threads = std::nullopt;  // >= 1; qkv::threads() where not given
};

struct AttentionResult {
  Tensor out;  // [B, Hq, Tq, Dv], the dtype of q
  Tensor lse;  // [B, Hq, Tq], log of the sum of exp of the masked scores and of the head's sink; -inf where there is
               // neither. f64 if q is, else f32
};

/// dropout(softmax(mask(softcap(scale * q k^T) + bias))) v.
/// q [B, Hq, Tq, D], k [B, Hk, Tk, D], v [B, Hk, Tk, Dv], all of one floating dtype, any strides; Hq a multiple of Hk,
/// query head h reads key head h / (Hq / Hk). B, Tq, Tk and Dv may be 0.
///
/// A pair is forbidden where the mask hides it or its biased score is -inf: it has no weight and its k and v are not
/// used, so a NaN there does not reach the row. A row that sees nothing gives zeros and lse -inf. A visible NaN or +inf
/// score makes the row and its lse NaN.
///
/// A sink is the score of one more key that every query of its head sees, and whose value is zero: weights sum to less
/// than 1, and a row that sees nothing gives zeros and the sink as its lse (Xiao et al. 2024).
///
/// Sums in f64, in the order of the keys, rounded once to the dtype of q. Allocates the result and a few rows of
/// scratch. Throws InvalidArgument naming q, k, v, scale, softcap, mask, bias, dropout, sinks or
/// threads.
/// Vaswani et al. 2017, section 3.2.
[[nodiscard]] AttentionResult attention(const TensorView& q, const TensorView& k, const TensorView& v,
                                        const AttentionOptions& options = {});

/// One T x T intermediate as a tensor [B, Hq, Tq, Tk] of `dtype`: this one does allocate T x T.
/// For `raw`, `scaled`, `softcapped` and `biased` hidden pairs hold their true numbers (their k is read); from `masked`
/// on they are -inf or 0. Throws as attention() does, and for a dtype that is not floating.
[[nodiscard]] Tensor attention_stage(const TensorView& q, const TensorView& k, const AttentionOptions& options,
                                     Stage stage, DType dtype = DType::f64);

/// Several intermediates of one walk over the scores, in the order asked for.
[[nodiscard]] std::vector<Tensor> attention_stages(const TensorView& q, const TensorView& k,
                                                   const AttentionOptions& options, std::initializer_list<Stage> stages,
                                                   DType dtype = DType::f64);

}  // namespace qkv
