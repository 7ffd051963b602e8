// The types that the machine's tile unit multiplies. Compiled for any machine; the target amx only calls it.
#pragma once

#include "qkv/dtype.h"

namespace qkv::kernels::cpu {

/// True for bf16, and for f16 where the processor has AMX-FP16: the target amx leaves other numbers to AVX-512.
[[nodiscard]] bool tiles_multiply(DType dtype);

}  // namespace qkv::kernels::cpu
