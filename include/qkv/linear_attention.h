// Attention whose cost grows with T and not with T * T, by a state of fixed size. Not softmax attention, and no
// approximation of it: docs/variants.md measures how far apart they are.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/feature_map.h"
#include "qkv/tensor.h"

namespace qkv {

struct LinearAttentionOptions {
  FeatureMap features = FeatureMap::elu_plus_one;
  bool causal = false;              // aligned bottom-right: query i sees the keys up to i + (Tk - Tq)
  std::optional<int> threads = {};  // at least 1; qkv::threads() where not given
};

/// The sum over all keys so far, so that later calls need not see these keys again. Default: no key yet. f64 if q is,
/// else f32.
struct LinearAttentionState {
  Tensor sums;   // [B, Hk, D, Dv]: sum over keys of feature[d] * v
  Tensor norms;  // [B, Hk, D]: sum over keys of feature[d]
  Tensor peaks;  // [B, Hk, D], softmax features: the largest key so far, taken out of sums and norms; else no elements
};

/// out_i = phi(q_i) (sum over j of phi(k_j) v_j^T) / (phi(q_i) . sum over j of phi(k_j)).
/// q [B, Hq, Tq, D], k [B, Hk, Tk, D], v [B, Hk, Tk, Dv], all of one floating dtype, any strides; Hq a multiple of Hk,
/// query head h reads key head h / (Hq / Hk). B, Tq, Tk and Dv may be 0. Returns [B, Hq, Tq, Dv] of q's dtype. There is
/// no scale, as in both papers.
///
/// A query that sees no key, or none whose weight is above 0, gives zeros. NaN or +inf in a query or in a key that it
/// sees makes its row NaN.
///
/// O((Tq + Tk) D Dv) time. Sums in f32, in f64 where q is; rounded once to q's dtype. Each thread has scratch of 64
/// tokens and one state. Results do not depend on the number of threads. Throws InvalidArgument naming q, k, v or
/// threads. Katharopoulos et al. 2020, sections 3.2 and 3.3; see FeatureMap.
[[nodiscard]] Tensor linear_attention(const TensorView& q, const TensorView& k, const TensorView& v,
                                      const LinearAttentionOptions& options = {});

/// The same after the keys of earlier calls, which `state` holds and every query sees. Adds the keys of this call to
/// `state`. Consecutive causal calls give the result of one call over all tokens, to rounding. Throws
/// InvalidArgument also naming state, before it is changed.
[[nodiscard]] Tensor linear_attention(const TensorView& q, const TensorView& k, const TensorView& v,
                                      LinearAttentionState& state, const LinearAttentionOptions& options = {});

/// How a token changes the state S [D, Dv] before its query reads it: o = scale * q S.
enum class UpdateRule : std::uint8_t {
  linear,       // S += k v^T
  gated,        // S = exp(decay) S + k v^T
  delta,        // S += beta k (v - k S)^T
  gated_delta,  // S = exp(decay) S, then as delta
};

struct RecurrentAttentionOptions {
  UpdateRule rule = UpdateRule::linear;
  std::optional<double> scale = std::nullopt;  // finite; 1 / sqrt(D) where not given
  std::optional<TensorView> decay = {};        // [B, Hk, T, D] or [B, Hk, T, 1], logarithms: needed by the gated rules
  std::optional<TensorView> beta = {};         // [B, Hk, T] or [B, 1, T]: needed by the delta rules
  std::optional<TensorView> past_state = {};   // [B, Hk, D, Dv], of any floating dtype; default: zeros
  std::optional<int> threads = {};             // at least 1; qkv::threads() where not given
};

struct RecurrentAttentionResult {
  Tensor out;    // [B, Hq, T, Dv], the dtype of q
  Tensor state;  // [B, Hk, D, Dv] after the last token, the dtype of past_state, else of q
};

/// Causal attention by a recurrence over the tokens, without feature map and without normalisation.
/// q [B, Hq, T, D], k [B, Hk, T, D], v [B, Hk, T, Dv], decay and beta, all of one floating dtype, any strides; Hq a
/// multiple of Hk, the query heads of a group read one state. B, T and Dv may be 0.
///
/// O(T D Dv) time; sums, scratch and threads as for linear_attention. Throws InvalidArgument naming q, k, v, scale,
/// decay, beta, past_state or threads. ONNX LinearAttention-27, whose chunk_size is a hint without effect on the
/// result; the delta rules are those of Yang et al. 2024 ("Gated Delta Networks"), section 3.
[[nodiscard]] RecurrentAttentionResult recurrent_attention(const TensorView& q, const TensorView& k,
                                                           const TensorView& v,
                                                           const RecurrentAttentionOptions& options = {});

}  // namespace qkv
