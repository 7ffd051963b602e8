// The backward pass of a validated call, laid out for the fused kernels.
#pragma once

#include "attention/fused.h"
#include "kernels/backward_problem.h"

namespace qkv {

/// Writes those of problem.d_q, d_k and d_v that are set. `problem.problem` is that of `call`. Allocates scratch, the
/// plan of the mask as run_fused() does, and copies of inputs whose last stride is not 1.
void run_fused_backward(const FusedCall& call, const kernels::BackwardProblem& problem);

}  // namespace qkv
