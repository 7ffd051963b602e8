// The gradients of attention as plain float64 loops: the specification of every other kernel's.
#pragma once

#include "kernels/backward_problem.h"

namespace qkv::kernels::reference {

/// Writes d_q, d_k and d_v, and adds to `shared`. A forbidden pair's q, k and v are not used, its k and v not read.
/// Allocates a few rows, and the f64 sums of one key head's d_k and d_v.
void backward(const BackwardProblem& problem, SharedGradients& shared);

}  // namespace qkv::kernels::reference
