// What a product with a quantised weight passes back.
#pragma once

#include "kernels/product/quantised.h"

namespace qkv::kernels {

/// out [M, K], dense, of f32, bf16 or f16, = d [M, N] weight: the gradient of multiply_quantised() with respect to x,
/// as if that took x as it is and not in 8 bits. By the weight's numbers in f32, a piece of its rows after the other,
/// added in order, so that the bits do not depend on the number of threads; zeros where N is 0. Allocates such a piece,
/// of some 4 MiB; where there are several, [M, K] in f32; and of another dtype than f32, d and out in f32.
void multiply_back(const MutableTensorView& out, const TensorView& d, const QuantisedWeight& weight);

}  // namespace qkv::kernels
