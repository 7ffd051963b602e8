// The fused kernel on a problem of the reference, so that both can be asked the same.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/cpu/forward.h"
#include "kernels/plain.h"
#include "kernels/problem.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

/// out of q's dtype and lse of f32; k and v are dense.
[[nodiscard]] Results fused_call(const cpu::Target& target, const Problem& problem, const TensorView& v, int threads);

/// The same on a target that is one of those below.
[[nodiscard]] Results fused_call(std::string_view target, const Problem& problem, const TensorView& v, int threads);

/// The targets that are compiled and run here.
[[nodiscard]] std::vector<std::string_view> fused_targets();

}  // namespace qkv::kernels
