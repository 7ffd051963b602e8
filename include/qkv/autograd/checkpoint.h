// Saves memory for time: the values inside a block are computed again in the backward pass.
#pragma once

#include <functional>
#include <vector>

#include "qkv/autograd/variable.h"

namespace qkv {

/// block(inputs), keeping only the inputs (Chen et al. 2016). The backward pass runs the block again and differentiates
/// that run. All gradients, also of parameters that the block captures, are bit for bit those without checkpoint. The
/// block must compute the same result each time; dropout does, by its seed. Checkpoints can be nested. Throws what the
/// block throws. The backward pass throws InvalidArgument if an input was changed since, or if the second run gives
/// another shape or dtype or requires no gradient.
[[nodiscard]] Variable checkpoint(std::function<Variable(const std::vector<Variable>& inputs)> block,
                                  const std::vector<Variable>& inputs);

}  // namespace qkv
