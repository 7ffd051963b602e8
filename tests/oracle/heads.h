// The part of multi-head attention that lies between the projections.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "qkv/attention.h"
#include "qkv/nn/position.h"
#include "qkv/nn/taps.h"

namespace qkv::nn {

/// q [B, Hq, Tq, D], k [B, Hk, Tk, D], v [B, Hk, Tk, Dv] as projected, not yet turned.
struct Heads {
  TensorView q;
  TensorView k;
  TensorView v;
};

struct RotaryPair {
  RotaryTables q;
  RotaryTables k;
};

/// One of Hq query heads that are attended one after another.
struct HeadIndex {
  std::int64_t h = 0;
  std::int64_t of = 1;
};

/// attention() over all heads at once -> [B, Hq, Tq, Dv].
[[nodiscard]] Tensor attend_packed(const Heads& heads, const std::optional<RotaryPair>& rotary,
                                   const AttentionOptions& options, const TapScope& taps);

/// One head, as the formula is written: its weights as a matrix, then the weighted sum -> [B, 1, Tq, Dv]. Mask, bias
/// and dropout are asked about head `index.h` of `index.of`.
[[nodiscard]] Tensor attend_one(const Heads& head, const std::optional<RotaryPair>& rotary,
                                const AttentionOptions& options, const HeadIndex& index, const TapScope& taps);

/// Outputs [B, 1, T, Dv] of heads 0, 1, … side by side -> [B, T, H * Dv].
[[nodiscard]] Tensor join_heads(std::span<const Tensor> outputs);

}  // namespace qkv::nn
