#include "qkv/heads.h"

namespace qkv {

TensorView split_heads(const TensorView& x, std::int64_t heads) {
  if (x.rank() != 3) throw InvalidArgument("split_heads", "x", "a shape [B, T, H * D]", x.shape().to_string());
  const std::int64_t width = x.dim(2);
  if (heads < 1 || width % heads != 0) {
    throw InvalidArgument("split_heads", "heads", "a divisor of the last axis of x, " + std::to_string(width),
                          std::to_string(heads));
  }
  const std::int64_t D = width / heads;
  const Strides& strides = x.strides();
  return {x.data(), x.dtype(), {x.dim(0), heads, x.dim(1), D}, {strides[0], D * strides[2], strides[1], strides[2]}};
}

Tensor merge_heads(const TensorView& x) {
  if (x.rank() != 4) throw InvalidArgument("merge_heads", "x", "a shape [B, H, T, D]", x.shape().to_string());
  return Tensor(x.transpose(1, 2)).reshaped({x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

}  // namespace qkv
