#include "qkv/materialized_attention.h"

#include <cmath>

#include "attention/validate.h"
#include "kernels/materialized/attention.h"
#include "qkv/threads.h"

namespace qkv {

Tensor materialized_attention(const TensorView& q, const TensorView& k, const TensorView& v,
                              const MaterializedAttentionOptions& options) {
  const kernels::Problem problem =
      validated("materialized_attention", q, k, {.scale = options.scale, .threads = options.threads});
  validate_values("materialized_attention", k, v);
  Tensor out(q.dtype(), {q.dim(0), q.dim(1), q.dim(2), v.dim(3)});
  kernels::materialized::forward({.q = q,
                                  .k = k,
                                  .v = v,
                                  .scale = problem.scale,
                                  .causal = options.causal,
                                  .threads = options.threads.value_or(threads())},
                                 out);
  return out;
}

}  // namespace qkv
