// Products of a few rows with a weight as it lies, compiled once for each instruction set.
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

namespace baseline {
void few_rows(const FewRows& product, std::int64_t begin, std::int64_t end);
}
#if defined(__x86_64__)
namespace avx2 {
void few_rows(const FewRows& product, std::int64_t begin, std::int64_t end);
}
namespace avx512 {
void few_rows(const FewRows& product, std::int64_t begin, std::int64_t end);
}
#endif

/// Columns [begin, end) of `out`, by the instruction set of the target that qkv::cpu_targets() chooses. Each sum is
/// f32, in an order that depends on K and that set alone. The weight is read about once from memory, whatever M is;
/// from some 16 rows on a product of matrices is faster. Allocates nothing.
void few_rows(const FewRows& product, std::int64_t begin, std::int64_t end);

}  // namespace qkv::kernels
