// Attention that stores its T x T matrix, to compare tiled attention with.
#pragma once

#include <optional>

#include "qkv/tensor.h"

namespace qkv {

struct MaterializedAttentionOptions {
  std::optional<double> scale = std::nullopt;  // finite; 1 / sqrt(D) where not given
  bool causal = false;                         // aligned bottom-right; hidden scores are computed, then set to -inf
  std::optional<int> threads = std::nullopt;   // at least 1; qkv::threads() where not given
};

/// softmax(scale * q k^T) v in three passes over a matrix Tq x Tk that holds one head at a time: scores, rows of
/// softmax, product. The same result as attention(), to rounding; of use for comparing time and memory alone.
/// q [B, Hq, Tq, D], k [B, Hk, Tk, D], v [B, Hk, Tk, Dv], all of one floating dtype, any strides; grouped heads, empty
/// extents, and what a row without visible keys gives are as there. Sums in f32, in f64 for f64. Allocates the result,
/// the matrix, and dense copies of one head's q, k and v. Throws InvalidArgument naming q, k, v, scale or threads.
[[nodiscard]] Tensor materialized_attention(const TensorView& q, const TensorView& k, const TensorView& v,
                                            const MaterializedAttentionOptions& options = {});

}  // namespace qkv
