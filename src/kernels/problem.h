// One validated call of attention, as a kernel gets it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "qkv/bias.h"
#include "qkv/mask.h"
#include "qkv/random.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

/// Extents, dtypes and options have been validated; kernels do not check them.
struct Problem {
  TensorView q;              // [B, Hq, Tq, D]; one document of a ragged batch: [1, Hq, Tq, D]
  TensorView k;              // [B, Hk, Tk, D], or [1, Hk, Tk, D]
  MaskShape shape;           // as masks and biases see it
  std::int64_t first_b = 0;  // the index of q's first batch entry for masks, biases and dropout
  std::int64_t first_i = 0;  // likewise of its first query
  std::int64_t step_i = 1;   // q holds every step_i-th query from there on
  std::int64_t group = 1;    // Hq / Hk: query head h reads key head h / group
  double scale = 1;
  std::optional<double> softcap = std::nullopt;
  Bias bias = {};
  Mask mask = {};
  std::optional<Dropout> dropout = std::nullopt;
  std::vector<double> sinks = {};  // [Hq] or none

  /// The index of q's n-th query for masks, biases and dropout.
  [[nodiscard]] std::int64_t query(std::int64_t n) const { return first_i + n * step_i; }
};

}  // namespace qkv::kernels
