// Checks what a call on the way back is given beside q, k and the options.
#pragma once

#include <string_view>

#include "kernels/backward_problem.h"

namespace qkv {

/// That v, out, lse, d_out and d_lse stand beside q and k. Throws InvalidArgument as attention_backward() does;
/// `function` is the name it carries.
void validate_backward(std::string_view function, const kernels::BackwardProblem& problem);

}  // namespace qkv
