// Any part of the gradients of the T x T matrices, computed on demand. None of them is ever stored.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "qkv/attention.h"
#include "qkv/probe.h"

namespace qkv {

/// Of attention_backward(d_out, q, k, v, out, lse, options, {.d_lse = d_lse}): the gradient of the loss with respect to
/// each Stage. For `dropped` it is d_out v^T; for `weights` that times dropout's factor (FlashAttention's dP); for
/// `masked`, `biased` and `softcapped` it is w * (d_w - delta) (dS); for `scaled` that times the derivative of the
/// softcap, and for `raw` that times the scale. Forbidden pairs have 0 in all of them.
///
/// Keeps views of its tensors, which must outlive it. Computes in f64 if attention_target() is "reference", as for f64
/// tensors, else in f32. Several threads may call one GradientProbe at once. Throws InvalidArgument as
/// attention_backward() does, and naming ragged. Every function allocates its result and, for each thread, a few
/// tiles, and throws InvalidArgument naming what lies out of range. Dao et al. 2022, appendix B.
class GradientProbe {
 public:
  GradientProbe(const TensorView& d_out, const TensorView& q, const TensorView& k, const TensorView& v,
                const TensorView& out, const TensorView& lse, const AttentionOptions& options = {},
                std::optional<TensorView> d_lse = std::nullopt);
  GradientProbe(GradientProbe&&) noexcept;
  GradientProbe& operator=(GradientProbe&&) noexcept;
  ~GradientProbe();

  [[nodiscard]] const MaskShape& shape() const noexcept;

  /// Part of the gradient with respect to a stage, [queries, keys], f64 if computed in f64, else f32.
  [[nodiscard]] Tensor tile(const Tile& tile, Stage stage = Stage::biased) const;

  /// One query's, [Tk].
  [[nodiscard]] Tensor row(HeadPlace head, std::int64_t i, Stage stage = Stage::biased) const;

  /// The matrices of |gradient| in cells, as Probe::map() has those of weights. The same bits for any number of
  /// threads, which is that of the options.
  [[nodiscard]] CellMaps map(const MapRequest& request, Stage stage = Stage::biased,
                             const ProbeWatch& watch = {}) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace qkv
