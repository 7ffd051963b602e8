#include "explain/run.h"

#include <cmath>

#include "qkv/heads.h"

namespace qkv::explain_detail {

double Run::scale() const { return attention.scale.value_or(1.0 / std::sqrt(static_cast<double>(d_k))); }

Tensor pack_heads(const TensorView& split) {
  return merge_heads(split).reshaped({split.dim(2), split.dim(1) * split.dim(3)});
}

}  // namespace qkv::explain_detail
