#include "kernels/product/few_rows.h"

#include <algorithm>

#include "kernels/elements.h"
#include "kernels/pieces.h"
#include "kernels/product/dense.h"
#include "kernels/vector_loops.h"

namespace qkv::kernels {
namespace {

constexpr std::int64_t kMostRows = 8;
constexpr std::int64_t kWholeBlocks = 12;  // columns that blocks of any number of rows divide

}  // namespace

bool takes_few_rows(const TensorView& x, const TensorView& weight) {
  return x.rank() == 2 && weight.rank() == 2 && x.dim(0) <= kMostRows && x.dtype() != DType::f64 &&
         weight.dtype() != DType::f64 && weight.strides()[1] == 1;
}

void few_rows(const MutableTensorView& out, const TensorView& x, const TensorView& weight, const TensorView* bias) {
  const Dense rows = Dense::of(x, DType::f32);
  const Dense shift = bias == nullptr ? Dense() : Dense::of(*bias, DType::f32);
  const Dense sums = out.dtype() == DType::f32 ? Dense() : Dense(DType::f32, out.shape());
  const std::int64_t N = weight.dim(0);
  const FewRows product = {.x = rows.view().data_as<float>(),
                           .M = x.dim(0),
                           .K = weight.dim(1),
                           .weight = weight.data(),
                           .dtype = weight.dtype(),
                           .weight_row = weight.strides()[0],
                           .bias = shift.view().data_as<float>(),
                           .out = static_cast<float*>(sums.owns() ? sums.writable().data() : out.data()),
                           .out_row = N};
  for_pieces(N, even_piece(N, product.K * product.M, kWholeBlocks),
             [&](std::int64_t begin, std::int64_t end) { chosen_loops().few_rows(product, begin, end); });
  if (sums.owns()) copy_elements(sums.view(), out);
}

}  // namespace qkv::kernels
