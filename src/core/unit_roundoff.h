#pragma once

#include "qkv/dtype.h"

namespace qkv::core {

/// How far the nearest number of a type is, at most, from one of size 1: 2^-53 for f64, 2^-24 for f32, 2^-11 for f16,
/// 2^-8 for bf16.
[[nodiscard]] constexpr double unit_roundoff(DType dtype) noexcept {
  switch (dtype) {
    case DType::f64:
      return 0x1p-53;
    case DType::f16:
      return 0x1p-11;
    case DType::bf16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

}  // namespace qkv::core
