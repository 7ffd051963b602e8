// The operations of quantised products in AVX-512: those of AVX2 for few rows, which wait for memory, and 512 bits for
// panels. Included by targets' own files only.
#pragma once

#include "kernels/product/quantised_vectors_avx2.h"

namespace qkv::kernels::quantised {

template <class Own>
struct Avx512 : Avx2<Own> {
  using WideBytes = std::uint8_t __attribute__((vector_size(64)));
  using WideInts = std::int32_t __attribute__((vector_size(64)));
  using WideFloats = float __attribute__((vector_size(64)));
  static constexpr std::int64_t kLanes = 16;
  static constexpr int kRows = 8;
};

}  // namespace qkv::kernels::quantised
