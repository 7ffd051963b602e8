#include "kernels/product/onednn_product.h"

#include <algorithm>
#include <tuple>

#include "core/block_pool.h"
#include "core/parallel.h"
#include "kernels/product/batch.h"
#include "kernels/product/dense.h"
#include "kernels/product/onednn.h"
#include "kernels/product/onednn_weight.h"
#include "kernels/product/panel_product.h"
#include "kernels/product/split_product.h"
#include "qkv/threads.h"

namespace qkv::kernels {
namespace {

const std::byte* at(const void* data, std::int64_t offset, DType dtype) {
  return static_cast<const std::byte*>(data) + offset * static_cast<std::int64_t>(size_of(dtype));
}

// By panels where oneDNN has no such product.
void multiply_piece(const ProductShape& shape, const void* a, const void* b, const void* bias, void* c) {
  if (onednn_multiply(shape, a, b, bias, c)) return;
  const auto [M, N, K] = std::tuple(shape.M, shape.N, shape.K);
  const TensorView left(a, shape.dtype, {M, K}, {shape.a_row, shape.a_column});
  const TensorView right(b, shape.dtype, {N, K}, {shape.b_column, shape.b_row});
  const MutableTensorView out(c, shape.out, {M, N}, {shape.c_row, 1});
  const Dense shift = bias == nullptr ? Dense() : Dense::copy_of({bias, shape.bias, {N}, {1}}, DType::f32);
  multiply_in_panels(out, left, right, shift.view().data_as<float>(), 1);
}

// oneDNN reads matrices of which one stride is 1 and whose rows or columns do not overlap.
bool is_readable(const TensorView& x) {
  const std::int64_t rows = x.dim(-2);
  const std::int64_t columns = x.dim(-1);
  const std::int64_t row = x.strides()[x.rank() - 2];
  const std::int64_t column = x.strides()[x.rank() - 1];
  return (column == 1 && row >= columns) || (row == 1 && column >= rows);
}

TensorView readable(const TensorView& x, Dense& copy) {
  if (is_readable(x)) return x;
  copy = Dense::copy_of(x, x.dtype());
  return copy.view();
}

// Rows or columns per piece: about 16 pieces per product, equal if possible, but at least some 4 MFLOP each: smaller
// pieces would take as long to hand out as to compute. `work` is the multiply-adds of one row or column.
std::int64_t extent_of_piece(std::int64_t extent, std::int64_t batch, std::int64_t work) {
  constexpr std::int64_t kSmallest = 96;
  constexpr std::int64_t kPieces = 16;
  constexpr std::int64_t kLeastWork = std::int64_t{1} << 21;
  if (batch >= kPieces) return extent;
  const std::int64_t least = std::max(kSmallest, kLeastWork / std::max<std::int64_t>(1, work));
  for (std::int64_t pieces = kPieces; pieces >= 2; --pieces) {
    if (extent % pieces == 0 && extent / pieces >= std::max(2 * kSmallest, least)) return extent / pieces;
  }
  const std::int64_t wanted = std::max(least, (extent + kPieces - 1) / kPieces);
  return (wanted + kSmallest - 1) / kSmallest * kSmallest;
}

ProductShape shape_of(const TensorView& out, const TensorView& a, const TensorView& b, const TensorView* bias) {
  const int rank = out.rank();
  return {.M = out.dim(-2),
          .N = out.dim(-1),
          .K = a.dim(-1),
          .a_row = a.strides()[rank - 2],
          .a_column = a.strides()[rank - 1],
          .b_row = b.strides()[rank - 2],
          .b_column = b.strides()[rank - 1],
          .c_row = out.dim(-1),
          .dtype = a.dtype(),
          .out = out.dtype(),
          .bias = bias == nullptr ? DType::i64 : bias->dtype()};
}

// B in oneDNN's preferred layout; empty if it has none.
core::PooledBlock packed(ProductShape shape, const void* b) {
  shape.right = RightLayout::packed;
  const std::size_t bytes = onednn_packed_bytes(shape);
  if (bytes == 0) return {};
  core::PooledBlock block(bytes);
  onednn_pack(shape, b, block.data());
  return block;
}

// A is read along its columns, as in the gradient of a weight.
bool is_read_along_columns(const ProductShape& shape) {
  return shape.a_row == 1 && shape.a_column == shape.M && shape.K >= 512;
}

// Converting B's layout once pays if all pieces have one shape and each reads all of B.
bool is_worth_packing(const ProductShape& whole, std::int64_t rows) {
  return !is_read_along_columns(whole) && whole.M % rows == 0 && whole.M / rows >= 4;
}

}  // namespace

bool onednn_is_faster(DType dtype) {
  if ((dtype != DType::bf16 && dtype != DType::f16) || !can_split()) return false;
  static const bool kOfBf16 = onednn_has_products_of(DType::bf16);
  static const bool kOfF16 = onednn_has_products_of(DType::f16);
  return dtype == DType::bf16 ? kOfBf16 : kOfF16;
}

std::shared_ptr<const PackedWeight> onednn_weight(const TensorView& weight, DType dtype) {
  return OneDnnWeight::of(weight, dtype);
}

void multiply_by_onednn(const MutableTensorView& out, const TensorView& a, const TensorView& b,
                        const TensorView* bias) {
  const Shape batch = batch_of(out.view());
  Dense copy_a;
  Dense copy_b;
  const TensorView left = over_batch(readable(a, copy_a), batch);
  const TensorView right = over_batch(readable(b, copy_b), batch);
  ProductShape whole = shape_of(out, left, right, bias);
  const std::int64_t products = batch.product();
  const bool by_rows = whole.M >= whole.N;
  const std::int64_t extent = by_rows ? whole.M : whole.N;
  const std::int64_t size = extent_of_piece(extent, products, whole.K * (by_rows ? whole.N : whole.M));
  const std::int64_t pieces = (extent + size - 1) / size;
  core::PooledBlock laid;
  if (by_rows && products == 1 && is_worth_packing(whole, size)) {
    ProductShape shape = whole;
    shape.M = size;
    laid = packed(shape, right.data());
  }
  if (laid.data() != nullptr) whole.right = RightLayout::packed;
  const void* const factor = laid.data() == nullptr ? right.data() : laid.data();
  core::parallel_for(threads(), products * pieces, [&](int /*worker*/, std::int64_t task) {
    std::int64_t offset_a = 0;
    std::int64_t offset_b = 0;
    std::int64_t rest = task / pieces;
    for (int axis = batch.rank() - 1; axis >= 0; --axis) {
      offset_a += rest % batch[axis] * left.strides()[axis];
      offset_b += rest % batch[axis] * right.strides()[axis];
      rest /= batch[axis];
    }
    const std::int64_t begin = task % pieces * size;
    ProductShape shape = whole;
    (by_rows ? shape.M : shape.N) = std::min(size, extent - begin);
    const std::int64_t row = by_rows ? begin : 0;
    const std::int64_t column = by_rows ? 0 : begin;
    const std::int64_t offset_c = (task / pieces * whole.M + row) * whole.N + column;
    multiply_piece(shape, at(left.data(), offset_a + row * whole.a_row, left.dtype()),
                   at(factor, offset_b + column * whole.b_column, right.dtype()),
                   bias == nullptr ? nullptr : at(bias->data(), column, bias->dtype()),
                   const_cast<std::byte*>(at(out.data(), offset_c, out.dtype())));
  });
}

}  // namespace qkv::kernels
