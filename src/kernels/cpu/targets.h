// The targets that this build holds.
#pragma once

#include "kernels/cpu/task.h"

namespace qkv::kernels::cpu {

extern const Target kScalar;
#if defined(__x86_64__)
extern const Target kAvx2;
extern const Target kAvx512;
extern const Target kAvx512Vnni;
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
