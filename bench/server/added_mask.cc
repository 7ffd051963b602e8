#include "server/added_mask.h"

#include <limits>

#include "qkv/mask.h"

namespace qkv::bench {

Tensor added_mask(const Problem& problem, DType dtype) {
  const Mask rule = parse_mask(problem.mask);
  const MaskShape shape = {problem.q.dim(0), 1, problem.q.dim(2), problem.k.dim(2)};
  const std::int64_t B = rule.varies_by_batch() ? shape.B : 1;
  Tensor mask(DType::f32, {B, 1, shape.Tq, shape.Tk});
  float* value = mask.values<float>().data();
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t i = 0; i < shape.Tq; ++i) {
      for (std::int64_t j = 0; j < shape.Tk; ++j) {
        *value++ = rule.allows({b, 0, i, j}, shape) ? 0 : -std::numeric_limits<float>::infinity();
      }
    }
  }
  return mask.to(dtype);
}

}  // namespace qkv::bench
