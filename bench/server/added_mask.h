// A mask as numbers, for engines that add it to the scores.
#pragma once

#include "qkv/tensor.h"
#include "server/serve.h"

namespace qkv::bench {

/// 0 where a query sees a key, -inf where not: [B, 1, Tq, Tk], or [1, 1, Tq, Tk] if all of the batch have the same.
[[nodiscard]] Tensor added_mask(const Problem& problem, DType dtype);

}  // namespace qkv::bench
