// Any part of the gradients of the T x T matrices, made again when it is asked for: none of them is ever stored.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "qkv/attention.h"
#include "qkv/probe.h"

namespace qkv {

/// Shows what attention_backward(d_out, q, k, v, out, lse, options, {.d_lse = d_lse}) computes on its way: the loss's
/// gradient by each Stage of the forward call. By `dropped` it is d_out v^T; by `weights` that times dropout's factor
/// (FlashAttention's dP); by `masked`, `biased` and `softcapped` it is w * (d_w - delta) (dS); by `scaled` that times
/// the softcap's slope, and by `raw` that times the scale. Forbidden pairs have 0 in all of them.
///
/// Keeps views of its tensors, which must outlive it. Where attention_target() is "reference", as for f64 tensors,
/// computes in f64, elsewhere in f32. Several threads may call one GradientProbe at once. Throws InvalidArgument as
/// attention_backward() does, and naming ragged. Every function allocates its result and a few tiles, and throws
/// InvalidArgument naming what lies out of range. Dao et al. 2022, appendix B.
class GradientProbe {
 public:
  GradientProbe(const TensorView& d_out, const TensorView& q, const TensorView& k, const TensorView& v,
                const TensorView& out, const TensorView& lse, const AttentionOptions& options = {},
                std::optional<TensorView> d_lse = std::nullopt);
  GradientProbe(GradientProbe&&) noexcept;
  GradientProbe& operator=(GradientProbe&&) noexcept;
  ~GradientProbe();

  [[nodiscard]] const MaskShape& shape() const noexcept;

  /// Part of the gradient by a stage, [queries, keys] of f64 where computed in it, else f32.
  [[nodiscard]] Tensor tile(const Tile& tile, Stage stage = Stage::biased) const;

  /// One query's, [Tk].
  [[nodiscard]] Tensor row(HeadPlace head, std::int64_t i, Stage stage = Stage::biased) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace qkv
