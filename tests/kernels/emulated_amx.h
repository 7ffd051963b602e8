// The engine of AMX-FP16 with its tile unit done in plain arithmetic: what a machine without one can test.
#pragma once

#include "kernels/cpu/task.h"

namespace qkv::kernels::cpu {

/// For q, k and v of f16. Needs AVX-512.
extern const Target kEmulatedF16;

}  // namespace qkv::kernels::cpu
