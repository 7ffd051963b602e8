#include "kernels/product/product.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/block_pool.h"
#include "core/parallel.h"
#include "kernels/product/batch.h"
#include "kernels/product/dense.h"
#include "kernels/product/few_rows.h"
#include "kernels/product/onednn_product.h"
#include "kernels/product/panel_product.h"
#include "kernels/product/split_product.h"
#include "kernels/vectorised.h"
#include "qkv/threads.h"

namespace qkv::kernels {
namespace {

// In f64: sums in the order of K, rows of B read along N.
void multiply_rows(const TensorView& a, const TensorView& b, const double* bias, double* out, std::int64_t out_row) {
  constexpr std::int64_t kColumns = 256;
  std::array<double, kColumns> sums{};
  const std::int64_t N = b.dim(1);
  const auto [a_row, a_column] = std::pair(a.strides()[0], a.strides()[1]);
  const auto [b_row, b_column] = std::pair(b.strides()[0], b.strides()[1]);
  vectorised<double>([&]() QKV_INLINED {
    for (std::int64_t row = 0; row < a.dim(0); ++row) {
      const double* const x = a.data_as<double>() + row * a_row;
      for (std::int64_t first = 0; first < N; first += kColumns) {
        const std::int64_t count = std::min(kColumns, N - first);
        sums.fill(0);
        for (std::int64_t k = 0; k < a.dim(1); ++k) {
          const double left = x[k * a_column];
          const double* const right = b.data_as<double>() + k * b_row + first * b_column;
          const auto add = [&](std::int64_t step) QKV_INLINED {
            for (std::int64_t n = 0; n < count; ++n) sums[n] += left * right[n * step];
          };
          if (b_column == 1) {
            add(1);
          } else {
            add(b_column);
          }
        }
        for (std::int64_t n = 0; n < count; ++n) {
          out[row * out_row + first + n] = bias == nullptr ? sums[n] : sums[n] + bias[first + n];
        }
      }
    }
  });
}

// From about this size on, f32 on the tile unit is faster.
bool split(const MutableTensorView& out, const TensorView& a, const TensorView& b, const TensorView* bias) {
  constexpr std::int64_t kLeastExtent = 32;
  constexpr std::int64_t kLeastWork = std::int64_t{1} << 20;
  const bool is_f32 = a.dtype() == DType::f32 && b.dtype() == DType::f32 && out.dtype() == DType::f32;
  if (!is_f32 || !can_split()) return false;
  const SplitProduct shape = {.M = a.dim(0),
                              .N = b.dim(1),
                              .K = a.dim(1),
                              .a_row = a.strides()[0],
                              .a_column = a.strides()[1],
                              .b_row = b.strides()[0],
                              .b_column = b.strides()[1],
                              .c_row = b.dim(1)};
  if (std::min({shape.M, shape.N, shape.K}) < kLeastExtent || shape.M * shape.N * shape.K < kLeastWork) return false;
  const core::PooledBlock scratch(split_scratch_bytes(shape, threads()));
  return split_multiply(shape, a.data_as<float>(), b.data_as<float>(),
                        bias == nullptr ? nullptr : bias->data_as<float>(), static_cast<float*>(out.data()), threads(),
                        static_cast<std::byte*>(scratch.data()));
}

// A matrix of the batch.
TensorView matrix(TensorView x, const Shape& batch, std::int64_t n) {
  for (int axis = batch.rank() - 1; axis >= 0; --axis) {
    x = x.select(axis, n % batch[axis]);
    n /= batch[axis];
  }
  return x;
}

MutableTensorView matrix_of(const MutableTensorView& out, std::int64_t n) {
  const std::int64_t M = out.dim(-2);
  const std::int64_t N = out.dim(-1);
  auto* const first = static_cast<std::byte*>(out.data()) + n * M * N * static_cast<std::int64_t>(size_of(out.dtype()));
  return {first, out.dtype(), {M, N}, contiguous_strides({M, N})};
}

// Too little work to be shared between threads.
bool is_small(const MutableTensorView& out, const TensorView& a) {
  constexpr std::int64_t kLeast = std::int64_t{1} << 18;
  return out.size() * a.dim(-1) < kLeast;
}

void multiply_in_f64(const MutableTensorView& out, const TensorView& a, const TensorView& b, const TensorView* bias,
                     int threads) {
  constexpr std::int64_t kRows = 64;
  constexpr std::int64_t kColumns = 256;
  const std::int64_t M = out.dim(0);
  const std::int64_t N = out.dim(1);
  const std::int64_t down = (M + kRows - 1) / kRows;
  core::parallel_for(threads, down * ((N + kColumns - 1) / kColumns), [&](int /*worker*/, std::int64_t task) {
    const std::int64_t row = task % down * kRows;
    const std::int64_t column = task / down * kColumns;
    multiply_rows(a.slice(0, row, std::min(M, row + kRows)), b.slice(1, column, std::min(N, column + kColumns)),
                  bias == nullptr ? nullptr : bias->data_as<double>() + column,
                  static_cast<double*>(out.data()) + row * N + column, N);
  });
}

}  // namespace

DType product_dtype(DType dtype) {
  if (dtype == DType::f64 || dtype == DType::f32 || onednn_is_faster(dtype)) return dtype;
  return dtype == DType::bf16 && chosen_pairs() != nullptr ? dtype : DType::f32;
}

void multiply(const MutableTensorView& out, const TensorView& a, const TensorView& b, const TensorView* bias) {
  if (out.size() == 0) return;
  if (a.rank() == 2 && takes_few_rows(a, b.transpose(0, 1))) return few_rows(out, a, b.transpose(0, 1), bias);
  if (onednn_is_faster(a.dtype()) && a.dtype() == b.dtype() && a.dim(-1) > 0) {
    return multiply_by_onednn(out, a, b, bias);
  }
  const Shape batch = batch_of(out.view());
  const TensorView left = over_batch(a, batch);
  const TensorView right = over_batch(b, batch);
  const std::int64_t products = batch.product();
  if (products == 1 && split(out, matrix(left, batch, 0), matrix(right, batch, 0), bias)) return;
  const bool is_f64 = a.dtype() == DType::f64;
  const Dense shift = bias == nullptr || is_f64 ? Dense() : Dense::of(*bias, DType::f32);
  const auto one = [&](std::int64_t n, int threads) {
    const TensorView x = matrix(left, batch, n);
    const TensorView y = matrix(right, batch, n);
    if (is_f64) return multiply_in_f64(matrix_of(out, n), x, y, bias, threads);
    multiply_in_panels(matrix_of(out, n), x, y.transpose(0, 1), shift.view().data_as<float>(), threads);
  };
  const int count = is_small(out, a) ? 1 : threads();
  if (products < count) {
    for (std::int64_t n = 0; n < products; ++n) one(n, count);
    return;
  }
  core::parallel_for(count, products, [&](int /*worker*/, std::int64_t n) { one(n, 1); });
}

}  // namespace qkv::kernels
