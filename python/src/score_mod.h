// A function of Python as what changes scores: qkv._score computes, on the reference.
#pragma once

#include "inputs.h"
#include "options.h"
#include "qkv/backward.h"

namespace qkv::python {

/// attention() with score_mod. Throws InvalidArgument for options that do not go with it, and as attention() does.
[[nodiscard]] AttentionResult attention_with(nb::handle score_mod, const Inputs& inputs, const Tensor& k,
                                             const Tensor& v, const OptionArguments& options);

/// What attention_backward() takes beside the options; d_lse may be empty.
struct BackwardTensors {
  Tensor d_out;
  Tensor k;
  Tensor v;
  Tensor out;
  Tensor lse;
  Tensor d_lse;
};

/// Its gradients with respect to q, k, v and the sinks.
[[nodiscard]] AttentionGradients gradients_with(nb::handle score_mod, const Inputs& inputs,
                                                const BackwardTensors& tensors, const OptionArguments& options);

}  // namespace qkv::python
