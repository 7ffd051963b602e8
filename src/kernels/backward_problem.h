// One validated backward call, as a kernel gets it.
#pragma once

#include <optional>
#include <vector>

#include "kernels/problem.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

/// For one document of a ragged batch, B is 1 in all tensors.
struct BackwardProblem {
  Problem problem;                                 // of the forward call: q, k, v and options
  TensorView out;                                  // [B, Hq, Tq, Dv]
  TensorView lse;                                  // [B, Hq, Tq]
  TensorView d_out;                                // as out
  std::optional<TensorView> d_lse = std::nullopt;  // as lse

  // Written completely; none if not wanted.
  std::optional<MutableTensorView> d_q = std::nullopt;  // as q
  std::optional<MutableTensorView> d_k = std::nullopt;  // as k
  std::optional<MutableTensorView> d_v = std::nullopt;  // as v
};

/// The gradients of inputs that all documents share, in f64; kernels add to them. Empty if not wanted.
struct SharedGradients {
  std::vector<Tensor> bias;   // one for each term
  std::vector<double> sinks;  // [Hq]
};

}  // namespace qkv::kernels
