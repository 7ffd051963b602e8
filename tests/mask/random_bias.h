// Random biases that stand over a shape.
#pragma once

#include "mask/random_mask.h"
#include "qkv/bias.h"

namespace qkv::mask_test {

/// A sum of up to three of ALiBi, T5 buckets and arrays of any type that broadcast, some of them with -inf.
Bias any_bias(const MaskShape& shape);

}  // namespace qkv::mask_test
