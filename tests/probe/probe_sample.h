// Random calls of a probe, and what rounding may do to them.
#pragma once

#include "qkv/attention.h"
#include "qkv/probe.h"

namespace qkv::testing_probe {

/// q and k of any floating type, any mask, bias, softcap, scale, dropout and sinks, grouped heads, any target that runs
/// here; lengths from 0 to beyond a tile's edge. Drawn by RapidCheck.
struct Sample {
  Tensor q;
  Tensor k;
  AttentionOptions options;

  [[nodiscard]] MaskShape shape() const { return {q.dim(0), q.dim(1), q.dim(2), k.dim(2)}; }
  [[nodiscard]] Probe probe() const { return {q, k, options}; }
  /// A stage of one head as the reference has it, f64 [Tq, Tk].
  [[nodiscard]] Tensor stage(HeadPlace head, Stage stage) const;
  /// f64 [Tq, Tk]: 1 where a pair is visible, else 0.
  [[nodiscard]] Tensor visible(HeadPlace head) const;
  /// One that exists.
  [[nodiscard]] HeadPlace any_head() const;
};

/// With `whole`, no extent is 0.
[[nodiscard]] Sample any_sample(DType dtype, bool whole);
[[nodiscard]] DType any_dtype();

/// What a plain computation may err by, in f64 for f64 tensors and else in f32. With u the unit roundoff and M the
/// largest sum of |scale q_d k_d| plus |bias| of a pair:
struct Bounds {
  double score;   // (D + 14) u M: a dot product, scale, tanh to 7 u, and the bias
  double weight;  // relative: exp of a score less lse, both to `score`; that exp; a sum over a tile of keys
  double least;   // weights below it may be 0
};
[[nodiscard]] Bounds bounds_of(const Sample& sample);

/// True where they are equal (NaN is NaN), or apart by at most `absolute` + `relative` * |expected|.
[[nodiscard]] bool close(double got, double expected, double absolute, double relative = 0);

}  // namespace qkv::testing_probe
