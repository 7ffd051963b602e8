// How finely a dtype holds a number.
#pragma once

#include "qkv/dtype.h"

namespace qkv::cases {

constexpr double kUnit = 0x1p-24;  // of f32

/// Half the distance of 1 to the next number.
constexpr double unit_of(DType dtype) { return dtype == DType::f16 ? 0x1p-11 : dtype == DType::bf16 ? 0x1p-8 : kUnit; }
/// The smallest number above 0.
constexpr double least_of(DType dtype) {
  return dtype == DType::f16 ? 0x1p-24 : dtype == DType::bf16 ? 0x1p-133 : 0x1p-149;
}

}  // namespace qkv::cases
