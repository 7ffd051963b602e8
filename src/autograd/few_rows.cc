#include "autograd/few_rows.h"

#include <algorithm>

#include "autograd/elementwise.h"
#include "kernels/vector_loops.h"

namespace qkv::autograd {
namespace {

constexpr std::int64_t kMostRows = 8;
constexpr std::int64_t kLeastWork = std::int64_t{1} << 18;  // multiply-adds of a task: some 10 microseconds

}  // namespace

bool takes_few_rows(const TensorView& x, const TensorView& weight) {
  return x.rank() == 2 && weight.rank() == 2 && x.dim(0) <= kMostRows && x.dtype() != DType::f64 &&
         weight.dtype() != DType::f64 && weight.strides()[1] == 1;
}

void few_rows(Value& out, const TensorView& x, const TensorView& weight, const Value* bias) {
  const Value rows = dense(in_dtype({nullptr, x}, DType::f32));
  const Value shift = bias == nullptr ? Value{} : in_dtype(*bias, DType::f32);
  Value sums = out.dtype() == DType::f32 ? out : new_value(DType::f32, out.shape());
  const std::int64_t N = weight.dim(0);
  const kernels::FewRows product = {.x = rows.data<float>(),
                                    .M = x.dim(0),
                                    .K = weight.dim(1),
                                    .weight = weight.data(),
                                    .dtype = weight.dtype(),
                                    .weight_row = weight.strides()[0],
                                    .bias = bias == nullptr ? nullptr : shift.data<float>(),
                                    .out = sums.data<float>(),
                                    .out_row = N};
  const std::int64_t piece = std::max<std::int64_t>(1, kLeastWork / std::max<std::int64_t>(1, product.K * product.M));
  for_pieces(N, piece,
             [&](std::int64_t begin, std::int64_t end) { kernels::chosen_loops().few_rows(product, begin, end); });
  if (sums.storage != out.storage) copy_elements(sums.view, out.writable());
}

}  // namespace qkv::autograd
