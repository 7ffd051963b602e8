#include "kernels/product/product.h"

#include <algorithm>
#include <array>

#include "kernels/elements.h"
#include "kernels/pieces.h"
#include "kernels/product/dense.h"
#include "kernels/product/few_rows.h"
#include "kernels/product/onednn.h"
#include "kernels/product/split_product.h"
#include "kernels/real.h"
#include "kernels/vectorised.h"
#include "kernels/with_real.h"

namespace qkv::kernels {
namespace {

// A plain product: sums in the order of K, rows of B read along N.
template <class T, class Out, class Bias>
void plain_piece(const ProductShape& shape, const T* a, const T* b, const Bias* bias, Out* c) {
  constexpr std::int64_t kColumns = 256;
  std::array<Computed<T>, kColumns> sums{};
  vectorised<T>([&]() QKV_INLINED {
    for (std::int64_t row = 0; row < shape.M; ++row) {
      for (std::int64_t first = 0; first < shape.N; first += kColumns) {
        const std::int64_t count = std::min(kColumns, shape.N - first);
        sums.fill(0);
        for (std::int64_t k = 0; k < shape.K; ++k) {
          const Computed<T> left = load(a[row * shape.a_row + k * shape.a_column]);
          const T* right = b + k * shape.b_row + first * shape.b_column;
          const auto add = [&](std::int64_t step) QKV_INLINED {
            for (std::int64_t n = 0; n < count; ++n) sums[n] += left * load(right[n * step]);
          };
          if (shape.b_column == 1) {
            add(1);
          } else {
            add(shape.b_column);
          }
        }
        for (std::int64_t n = 0; n < count; ++n) {
          const Computed<T> shift = bias == nullptr ? 0 : static_cast<Computed<T>>(load(bias[first + n]));
          store(c[row * shape.c_row + first + n], static_cast<Computed<Out>>(sums[n] + shift));
        }
      }
    }
  });
}

const std::byte* at(const void* data, std::int64_t offset, DType dtype) {
  return static_cast<const std::byte*>(data) + offset * static_cast<std::int64_t>(size_of(dtype));
}

void piece(const ProductShape& shape, const void* a, const void* b, const void* bias, void* c) {
  if (shape.dtype != DType::f64 && shape.K > 0 && onednn_multiply(shape, a, b, bias, c)) return;
  with_real(shape.dtype, [&]<class T>(T) {
    with_own_or_f32<T>(shape.out, [&]<class Out>(Out) {
      with_own_or_f32<T>(bias == nullptr ? shape.dtype : shape.bias, [&]<class Bias>(Bias) {
        plain_piece(shape, static_cast<const T*>(a), static_cast<const T*>(b), static_cast<const Bias*>(bias),
                    static_cast<Out*>(c));
      });
    });
  });
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

TensorView over_batch(const TensorView& x, const Shape& batch) {
  Shape shape = batch;
  shape.push_back(x.dim(-2));
  shape.push_back(x.dim(-1));
  return x.broadcast_to(shape);
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

// In f32 oneDNN is fast here only with all columns. So K is split, and the sums of the pieces are added in order.
bool is_cut_along_k(const ProductShape& shape) { return shape.dtype == DType::f32 && is_read_along_columns(shape); }

void multiply_along_k(float* out, const ProductShape& whole, const void* a, const void* b) {
  const std::int64_t depth = std::clamp<std::int64_t>(whole.K / 4, 256, 1024);
  const std::int64_t pieces = (whole.K + depth - 1) / depth;
  const std::int64_t size = whole.M * whole.N;
  const Dense others(DType::f32, {pieces - 1, size});
  auto* const more = static_cast<float*>(others.writable().data());
  for_pieces(pieces, 1, [&](std::int64_t n, std::int64_t /*end*/) {
    ProductShape shape = whole;
    shape.K = std::min(depth, whole.K - n * depth);
    const std::byte* right = at(b, n * depth * whole.b_row, whole.dtype);
    const core::PooledBlock laid = packed(shape, right);
    if (laid.data() != nullptr) shape.right = RightLayout::packed;
    piece(shape, at(a, n * depth * whole.a_column, whole.dtype), laid.data() == nullptr ? right : laid.data(), nullptr,
          n == 0 ? out : more + (n - 1) * size);
  });
  for_pieces(size, kPiece, [&](std::int64_t begin, std::int64_t end) {
    vectorised<float>([&]() QKV_INLINED {
      for (std::int64_t n = 0; n + 1 < pieces; ++n) {
        QKV_SAME_INDEX
        for (std::int64_t i = begin; i < end; ++i) out[i] += more[n * size + i];
      }
    });
  });
}

// Converting B's layout once pays if all pieces have one shape and each reads all of B.
bool is_worth_packing(const ProductShape& whole, std::int64_t rows) {
  return !is_read_along_columns(whole) && whole.dtype != DType::f64 && whole.K > 0 && whole.M % rows == 0 &&
         whole.M / rows >= 4;
}

// From about this size on, f32 on the tile unit takes less than half of oneDNN's time.
bool split(const MutableTensorView& out, const ProductShape& whole, const void* a, const void* b,
           const TensorView* bias) {
  constexpr std::int64_t kLeastExtent = 32;
  constexpr std::int64_t kLeastWork = std::int64_t{1} << 20;
  if (whole.dtype != DType::f32 || whole.out != DType::f32 || !can_split()) return false;
  if (std::min({whole.M, whole.N, whole.K}) < kLeastExtent || whole.M * whole.N * whole.K < kLeastWork) return false;
  const SplitProduct shape = {.M = whole.M,
                              .N = whole.N,
                              .K = whole.K,
                              .a_row = whole.a_row,
                              .a_column = whole.a_column,
                              .b_row = whole.b_row,
                              .b_column = whole.b_column,
                              .c_row = whole.c_row};
  const core::PooledBlock scratch(split_scratch_bytes(shape, threads()));
  return split_multiply(shape, static_cast<const float*>(a), static_cast<const float*>(b),
                        bias == nullptr ? nullptr : bias->data_as<float>(), static_cast<float*>(out.data()), threads(),
                        static_cast<std::byte*>(scratch.data()));
}

// For machines without products of these 16 bits: factors are exact in f32, and sums are rounded once.
void multiply_in_f32(const MutableTensorView& out, const TensorView& a, const TensorView& b, const TensorView* bias) {
  const Dense left = Dense::copy_of(a, DType::f32);
  const Dense right = Dense::copy_of(b, DType::f32);
  const Dense shift = bias == nullptr ? Dense() : Dense::of(*bias, DType::f32);
  const TensorView* const added = bias == nullptr ? nullptr : &shift.view();
  if (out.dtype() == DType::f32) return multiply(out, left.view(), right.view(), added);
  const Dense sums(DType::f32, out.shape());
  multiply(sums.writable(), left.view(), right.view(), added);
  copy_elements(sums.view(), out);
}

}  // namespace

void multiply(const MutableTensorView& out, const TensorView& a, const TensorView& b, const TensorView* bias) {
  if (out.size() == 0) return;
  if (a.rank() == 2 && takes_few_rows(a, b.transpose(0, 1))) return few_rows(out, a, b.transpose(0, 1), bias);
  if (product_dtype(a.dtype()) != a.dtype()) return multiply_in_f32(out, a, b, bias);
  const int rank = out.shape().rank();
  Shape batch;
  for (int axis = 0; axis + 2 < rank; ++axis) batch.push_back(out.shape()[axis]);
  Dense copy_a;
  Dense copy_b;
  const TensorView left = over_batch(readable(a, copy_a), batch);
  const TensorView right = over_batch(readable(b, copy_b), batch);
  ProductShape whole = shape_of(out, left, right, bias);
  const std::int64_t products = batch.product();
  if (products == 1 && split(out, whole, left.data(), right.data(), bias)) return;
  if (products == 1 && bias == nullptr && is_cut_along_k(whole)) {
    return multiply_along_k(static_cast<float*>(out.data()), whole, left.data(), right.data());
  }
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
    piece(shape, at(left.data(), offset_a + row * whole.a_row, left.dtype()),
          at(factor, offset_b + column * whole.b_column, right.dtype()),
          bias == nullptr ? nullptr : at(bias->data(), column, bias->dtype()),
          const_cast<std::byte*>(at(out.data(), offset_c, out.dtype())));
  });
}

}  // namespace qkv::kernels
