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
  TensorView v = {};         // [B, Hk, Tk, Dv], likewise; of no elements where only scores are asked for
  MaskShape shape;           // as masks and biases see it
  std::int64_t first_b = 0;  // the index of q's first batch entry for masks, biases and dropout
  MatrixWindow window = {};  // the places of q and k, as dropout counts; `bias` and `mask` are of the window
  std::int64_t group = 1;    // Hq / Hk: query head h reads key head h / group
  double scale = 1;
  std::optional<double> softcap = std::nullopt;
  Bias bias = {};
  Mask mask = {};
  std::optional<Dropout> dropout = std::nullopt;
  std::vector<double> sinks = {};  // [Hq] or none

  /// True if k is a part of the keys, so that an lse may be of more.
  [[nodiscard]] bool has_part_of_keys() const { return window.Tk > shape.Tk; }

  /// What dropout looks at: the place in the whole matrix of query i and key j of entry b.
  [[nodiscard]] Place whole(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    return {.b = first_b + b, .h = h, .i = window.query(i), .j = window.key(j)};
  }
};

}  // namespace qkv::kernels
