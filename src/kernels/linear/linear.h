// Linear attention and its recurrent family, one state for each batch entry and key head.
#pragma once

#include <optional>

#include "qkv/feature_map.h"
#include "qkv/tensor.h"

namespace qkv::kernels::linear {

/// The validated inputs of both kernels, all of one dtype. The state's tensors and `out` are dense; the state's are of
/// state_dtype().
struct Tokens {
  TensorView q;  // [B, Hq, Tq, D]
  TensorView k;  // [B, Hk, Tk, D]
  TensorView v;  // [B, Hk, Tk, Dv]
  int threads = 1;
};

/// The dtype of states and sums: f64 for f64, else f32.
[[nodiscard]] DType state_dtype(DType dtype) noexcept;

struct FeatureState {
  Tensor& sums;   // [B, Hk, D, Dv]
  Tensor& norms;  // [B, Hk, D]
  Tensor& peaks;  // [B, Hk, D]; read and written for softmax features only
};

/// Reads and updates the state. A causal query i sees the keys up to i + (Tk - Tq), and those of the state.
void attend(const Tokens& tokens, FeatureMap features, bool causal, const FeatureState& state, Tensor& out);

struct Recurrence {
  double scale = 1;
  std::optional<TensorView> decay;  // [B, Hk, T, D or 1]
  std::optional<TensorView> beta;   // [B, Hk or 1, T, 1]
};

/// Tq = Tk. Reads and updates the state [B, Hk, D, Dv].
void recur(const Tokens& tokens, const Recurrence& recurrence, Tensor& state, Tensor& out);

}  // namespace qkv::kernels::linear
