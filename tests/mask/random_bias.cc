#include "mask/random_bias.h"

#include <limits>

namespace qkv::mask_test {
namespace {

// Tenths, which no binary type holds exactly.
Tensor any_numbers(const Shape& shape) {
  Tensor numbers(DType::f64, shape);
  for (double& number : numbers.values<double>()) {
    const std::int64_t tenths = any_in(-50, 50);
    number = tenths == 50 ? -std::numeric_limits<double>::infinity() : static_cast<double>(tenths) / 10;
  }
  return numbers.to(*rc::gen::element(DType::f64, DType::f32, DType::f16, DType::bf16));
}

Bias any_term(const MaskShape& shape) {
  switch (any_in(0, 3)) {
    case 0:
      return alibi(any_align());
    case 1: {
      const std::int64_t buckets = 2 * any_in(2, 20);
      return t5_bias(any_numbers({buckets, shape.H}),
                     {.buckets = buckets, .max_distance = any_in(21, 200), .bidirectional = any_in(0, 1) == 1},
                     any_align());
    }
    default:
      return dense_bias(any_numbers({one_or(shape.B), one_or(shape.H), one_or(shape.Tq), one_or(shape.Tk)}));
  }
}

}  // namespace

Bias any_bias(const MaskShape& shape) {
  Bias bias;
  for (std::int64_t terms = any_in(0, 3); terms > 0; --terms) bias = bias + any_term(shape);
  return bias;
}

}  // namespace qkv::mask_test
