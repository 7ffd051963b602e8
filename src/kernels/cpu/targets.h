// The targets that this build holds.
#pragma once

#include <cstdint>

#include "kernels/cpu/task.h"

namespace qkv::kernels::cpu {

extern const Target kScalar;
#if defined(__x86_64__)
extern const Target kAvx2;
extern const Target kAvx512;
extern const Target kAvx512Vnni;
/// Up to how many queries a key head avx512vnni is the fastest target for bf16 queries over a cache of i8.
[[nodiscard]] std::int64_t most_queries_over_i8(const Forward& call);
extern const Target kAvx512Bf16;
extern const Target kAmx;
extern const Target kAmxF32;
#elif defined(__aarch64__)
extern const Target kNeon;
extern const Target kNeonBf16;
#elif defined(__wasm_simd128__)
extern const Target kSimd128;
#endif

}  // namespace qkv::kernels::cpu
