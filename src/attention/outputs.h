// Where a call may write.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "kernels/backward_problem.h"
#include "qkv/backward.h"
#include "qkv/kv_cache.h"
#include "qkv/tensor.h"

namespace qkv {

/// Everything that a call reads and writes.
struct CallMemory {
  TensorView q;
  TensorView k;
  TensorView v;
  MutableTensorView out;
  MutableTensorView lse;
  std::span<std::byte> scratch;
};

/// The same of a call over a cache, which outlives it.
struct DecodeMemory {
  TensorView q;
  const KvCacheView& cache;
  MutableTensorView out;
  MutableTensorView lse;
  std::span<std::byte> scratch;
};

/// f64 if q is, else f32.
[[nodiscard]] DType lse_dtype(DType dtype);

/// Throws InvalidArgument naming `function` and out, lse or scratch, as attention_into() does.
void validate_outputs(std::string_view function, const CallMemory& memory);

/// The same, as decode_into() does.
void validate_outputs(std::string_view function, const DecodeMemory& memory);

/// Throws InvalidArgument naming into.d_q, into.d_k or into.d_v, as attention_backward() does.
void validate_places(std::string_view function, const kernels::BackwardProblem& problem, const GradientPlaces& places);

}  // namespace qkv
