// The types of elements, and which may meet.
#pragma once

#include "kernels/pieces.h"
#include "kernels/real.h"
#include "kernels/vectorised.h"
#include "kernels/with_real.h"
#include "qkv/dtype.h"

namespace qkv::autograd {

using kernels::Computed;
using kernels::load;
using kernels::store;
using kernels::vectorised;

using kernels::for_pieces;
using kernels::for_rows;
using kernels::for_runs;
using kernels::kPiece;
using kernels::merged;
using kernels::Walk;
using kernels::with_computed;
using kernels::with_own_or_f32;
using kernels::with_real;
using kernels::with_stored;

/// True for the types of 16 bits that are computed in f32.
[[nodiscard]] inline bool is_half(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }

/// A parameter has the dtype of x, or both are f32 or of 16 bits: it is then converted for x.
[[nodiscard]] inline bool may_serve(DType parameter, DType x) {
  const auto is_converted = [](DType dtype) { return dtype == DType::f32 || is_half(dtype); };
  return parameter == x || (is_converted(parameter) && is_converted(x));
}

}  // namespace qkv::autograd
