// One head after another, as the formula of attention is written.
#pragma once

#include <cstdint>
#include <span>

#include "qkv/attention.h"

namespace qkv::oracle {

/// q [B, 1, Tq, D], k [B, 1, Tk, D], v [B, 1, Tk, Dv], after the rotation.
struct Head {
  TensorView q;
  TensorView k;
  TensorView v;
};

/// One of the query heads that are attended one after another.
struct HeadIndex {
  std::int64_t h = 0;
  std::int64_t of = 1;
};

/// The head's weights as a matrix, then the weighted sum -> [B, 1, Tq, Dv]. Mask, bias, dropout and sinks are asked
/// about head `index.h` of `index.of`.
[[nodiscard]] Tensor attend_one(const Head& head, const AttentionOptions& options, const HeadIndex& index);

/// Outputs [B, 1, T, Dv] of heads 0, 1, … side by side -> [B, T, H * Dv].
[[nodiscard]] Tensor join_heads(std::span<const Tensor> outputs);

}  // namespace qkv::oracle
