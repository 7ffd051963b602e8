#include "qkv/standard_attention.h"

#include <cmath>

#include "attention/validate.h"
#include "kernels/standard/attention.h"
#include "qkv/threads.h"

namespace qkv {

Tensor standard_attention(const TensorView& q, const TensorView& k, const TensorView& v,
                          const StandardAttentionOptions& options) {
  const kernels::Problem problem =
      validated("standard_attention", q, k, {.scale = options.scale, .threads = options.threads});
  validate_values("standard_attention", k, v);
  Tensor out(q.dtype(), {q.dim(0), q.dim(1), q.dim(2), v.dim(3)});
  kernels::standard::forward({.q = q,
                              .k = k,
                              .v = v,
                              .scale = problem.scale,
                              .causal = options.causal,
                              .threads = options.threads.value_or(threads())},
                             out);
  return out;
}

}  // namespace qkv
