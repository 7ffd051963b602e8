// Memory for time: a block whose inner values are computed again in the walk back.
#pragma once

#include <functional>
#include <vector>

#include "qkv/autograd/variable.h"

namespace qkv {

/// block(inputs), of which only the inputs are kept (Chen et al. 2016). The walk back runs the block a second time and
/// walks over that; gradients, those of parameters that the block uses from outside among them, are the same bit for
/// bit as without. So the block must compute the same each time: dropout does, by its seed. Checkpoints may stand
/// inside each other. Throws what the block throws; the walk back throws InvalidArgument where an input was written
/// since, or where the second run gives another shape or dtype or requires no gradient.
[[nodiscard]] Variable checkpoint(std::function<Variable(const std::vector<Variable>& inputs)> block,
                                  const std::vector<Variable>& inputs);

}  // namespace qkv
