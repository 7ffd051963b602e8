// Products of a few rows with a weight as it lies: VectorLoops::few_rows.
#pragma once

#include <cstdint>

#include "qkv/dtype.h"

namespace qkv::kernels {

/// out[m][n] = sum over k of x[m][k] weight[n][k], + bias[n].
struct FewRows {
  const float* x = nullptr;  // [M][K], dense
  std::int64_t M = 0;
  std::int64_t K = 0;
  const void* weight = nullptr;  // [N][K]; rows are dense and begin `weight_row` elements apart
  DType dtype = DType::f32;      // of the weight: f32, bf16 or f16
  std::int64_t weight_row = 0;
  const float* bias = nullptr;  // [N]; null for none
  float* out = nullptr;         // [M][N]; rows begin `out_row` floats apart
  std::int64_t out_row = 0;
};

}  // namespace qkv::kernels
