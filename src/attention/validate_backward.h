// Checks the arguments of a backward call beside q, k and the options.
#pragma once

#include <string_view>

#include "kernels/backward_problem.h"

namespace qkv {

/// Checks out, lse, d_out and d_lse against q and v. Throws InvalidArgument as attention_backward() does, naming
/// `function`.
void validate_backward(std::string_view function, const kernels::BackwardProblem& problem);

}  // namespace qkv
