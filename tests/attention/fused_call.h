// Calls on the fused targets, and how near the reference they must be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/fused_targets.h"
#include "attention/qkv.h"
#include "qkv/attention.h"

namespace qkv::testing_attention {

struct Widths {
  std::int64_t Hk = 1;
  std::int64_t D = 1;
  std::int64_t Dv = 1;
};

/// Standard normal numbers, rounded to `dtype`.
[[nodiscard]] Qkv inputs_of(const MaskShape& shape, const Widths& widths, DType dtype);

/// Holds `result` to the reference of the same call: no element of out or lse is farther from it in f64 than twice what
/// plain loops in f32 may be, the rounding of the result included.
void expect_as_reference(const Qkv& inputs, AttentionOptions options, const AttentionResult& result);

}  // namespace qkv::testing_attention
