// Attention over a stored matrix of scores.
#pragma once

#include "qkv/tensor.h"

namespace qkv::kernels::materialized {

struct Call {
  TensorView q;  // [B, Hq, Tq, D]
  TensorView k;  // [B, Hk, Tk, D]
  TensorView v;  // [B, Hk, Tk, Dv]
  double scale = 1;
  bool causal = false;
  int threads = 1;
};

/// Everything has been checked; `out` is [B, Hq, Tq, Dv].
void forward(const Call& call, Tensor& out);

}  // namespace qkv::kernels::materialized
