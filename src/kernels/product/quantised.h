// Products with a quantised weight as it lies in its file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/block_type.h"
#include "qkv/quantised_tensor.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

/// [N, K]: rows one after the other, each of whole blocks.
struct QuantisedWeight {
  core::BlockType type;
  std::int64_t N;
  std::int64_t K;
  const std::byte* blocks;
};

/// Of a tensor [N, K], which has to live as long.
[[nodiscard]] QuantisedWeight quantised_weight(const QuantisedTensor& weight);

[[nodiscard]] std::int64_t row_bytes(const QuantisedWeight& weight) noexcept;

/// out [M, N], dense, of f32, bf16 or f16, = x [M, K] weight^T + bias [N] (null for none), x and bias of any of these.
///
/// Each 32 numbers of x (16 where the weight's scales are of 16) become whole numbers of 8 bits with one scale in f32,
/// their largest magnitude divided by 127; products and sums of a group are whole numbers, exact; groups are added in
/// f32, in an order that depends on K alone, on any number of threads. So x[m][k] errs by half of its group's scale,
/// and nothing else by more than f32 does. A row of x with NaN or infinity is NaN in `out`. Allocates x in 8 bits and,
/// from some rows on, room for each task's part of the weight, with one byte a number. Throws InvalidArgument naming
/// `function` where x or bias does not fit the weight. Method: as the Q8_0 activations of ggml (ggml-quants.c);
/// Dettmers et al., "LLM.int8()" (2022), has the idea by rows.
void multiply_quantised(const char* function, const MutableTensorView& out, const TensorView& x,
                        const QuantisedWeight& weight, const TensorView* bias = nullptr);

/// The same by numbers of the weight in f32, row after row, and sums in f32: what multiply_quantised() is held against.
void multiply_dequantised(const MutableTensorView& out, const TensorView& x, const QuantisedWeight& weight,
                          const TensorView* bias = nullptr);

/// Row n of the weight as f32: an embedding. `to` has K places. Allocates nothing.
void dequantise_row(const QuantisedWeight& weight, std::int64_t n, float* to);

}  // namespace qkv::kernels
