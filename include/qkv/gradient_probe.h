// Any part of the gradients of the T x T matrices, computed on demand. None of them is ever stored.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "qkv/attention.h"
#include "qkv/probe.h"

namespace qkv {

/// A matrix of gradients, downsampled to the cells of a WeightMap.
struct GradientMap {
  Tensor magnitudes;  // f64 [rows, columns]: mean or largest |gradient|; hidden pairs count as 0
  Tensor visible;     // f64 [rows, columns]: share of the cell's pairs that are visible
};

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

  /// The matrix of |gradient| in size.rows x size.columns cells, 1 <= rows <= Tq and 1 <= columns <= Tk. The same bits
  /// for any number of threads, which is that of the options.
  [[nodiscard]] GradientMap map(HeadPlace head, const MapSize& size, Stage stage = Stage::biased,
                                Reduce reduce = Reduce::mean, const ProbeWatch& watch = {}) const;

  /// The same for the mean of |gradient| over several heads of one batch entry.
  [[nodiscard]] GradientMap map(std::int64_t b, std::span<const std::int64_t> heads, const MapSize& size,
                                Stage stage = Stage::biased, Reduce reduce = Reduce::mean,
                                const ProbeWatch& watch = {}) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace qkv
