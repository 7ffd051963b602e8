// The backward pass of a validated call, laid out for the fused kernels.
#pragma once

#include "attention/fused.h"
#include "kernels/backward_problem.h"

namespace qkv {

/// Bytes of scratch that the call needs, at any alignment.
[[nodiscard]] std::size_t backward_scratch_bytes(const FusedCall& call, const kernels::BackwardProblem& problem);

/// Writes those of problem.d_q, d_k and d_v that are set. `problem.problem` is that of `call`. Allocates scratch if
/// `scratch` is empty, and the plan of the mask as run_fused() does. Throws InvalidArgument naming scratch if it is too
/// small, before anything is written.
void run_fused_backward(const FusedCall& call, const kernels::BackwardProblem& problem, std::span<std::byte> scratch);

}  // namespace qkv
