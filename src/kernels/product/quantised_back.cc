#include "kernels/product/quantised_back.h"

#include <algorithm>
#include <cstring>

#include "kernels/elements.h"
#include "kernels/pieces.h"
#include "kernels/product/dense.h"
#include "kernels/product/product.h"

namespace qkv::kernels {
namespace {

constexpr std::int64_t kNumbersOfPiece = std::int64_t{1} << 20;

}  // namespace

void multiply_back(const MutableTensorView& out, const TensorView& d, const QuantisedWeight& weight) {
  if (weight.N == 0) {
    std::memset(out.data(), 0, static_cast<std::size_t>(out.size()) * size_of(out.dtype()));
    return;
  }
  const Dense rows = Dense::of(d, DType::f32);
  const Dense own = out.dtype() == DType::f32 ? Dense() : Dense(DType::f32, out.shape());
  const MutableTensorView sums = own.owns() ? own.writable() : out;
  const std::int64_t size =
      std::clamp<std::int64_t>(kNumbersOfPiece / std::max<std::int64_t>(weight.K, 1), 1, weight.N);
  const Dense numbers(DType::f32, {size, weight.K});
  const Dense part = size < weight.N ? Dense(DType::f32, out.shape()) : Dense();
  for (std::int64_t first = 0; first < weight.N; first += size) {
    const std::int64_t count = std::min(size, weight.N - first);
    for_rows(count, weight.K, [&](std::int64_t begin, std::int64_t end) {
      auto* to = static_cast<float*>(numbers.writable().data());
      for (std::int64_t n = begin; n < end; ++n) dequantise_row(weight, first + n, to + n * weight.K);
    });
    const TensorView left = rows.view().slice(1, first, first + count);
    const MutableTensorView product = first == 0 ? sums : part.writable();
    multiply(product, left, numbers.view().slice(0, 0, count));
    if (first > 0) add_elements(product, sums);
  }
  if (own.owns()) copy_elements(own.view(), out);
}

}  // namespace qkv::kernels
