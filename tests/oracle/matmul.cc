#include "qkv/nn/matmul.h"

#include <algorithm>
#include <array>

#include "core/element.h"
#include "nn/require.h"

namespace qkv {
namespace {

// A tile of kRows x kColumns f64 sums fits the registers of baseline x86-64 and of NEON.
constexpr std::int64_t kRows = 4;
constexpr std::int64_t kColumns = 8;

using Sums = std::array<std::array<double, kColumns>, kRows>;

// Columns [n, n + kColumns) of b [K, N] as panel[k][column], zero beyond N.
void pack_columns(const TensorView& b, std::int64_t n, std::vector<double>& panel) {
  const std::int64_t count = std::min(kColumns, b.dim(1) - n);
  std::fill(panel.begin(), panel.end(), 0.0);
  core::with_type(b.dtype(), [&]<class T>(T) {
    const T* elements = static_cast<const T*>(b.data());
    for (std::int64_t k = 0; k < b.dim(0); ++k) {
      for (std::int64_t c = 0; c < count; ++c) {
        const T element = elements[k * b.strides()[0] + (n + c) * b.strides()[1]];
        panel[static_cast<std::size_t>(k * kColumns + c)] = core::to_double(element);
      }
    }
  });
}

// Each sum runs over k in ascending order in one accumulator: the blocking is invisible in the result.
template <std::int64_t Rows>
Sums multiply_tile(const double* rows, const double* panel, std::int64_t K) {
  Sums sums{};
  for (std::int64_t k = 0; k < K; ++k) {
    for (std::int64_t r = 0; r < Rows; ++r) {
      const double a = rows[r * K + k];
      for (std::int64_t c = 0; c < kColumns; ++c) {
        sums[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)] += a * panel[k * kColumns + c];
      }
    }
  }
  return sums;
}

template <class T>
void store_tile(const Sums& sums, std::int64_t rows, std::int64_t columns, std::int64_t stride, T* out) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      out[r * stride + c] = core::from_double<T>(sums[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]);
    }
  }
}

void multiply(const std::vector<double>& a, const TensorView& b, Tensor& out) {
  const std::int64_t K = b.dim(0);
  const std::int64_t N = b.dim(1);
  const std::int64_t M = N == 0 ? 0 : out.size() / N;
  std::vector<double> panel(static_cast<std::size_t>(K * kColumns));
  core::with_type(out.dtype(), [&]<class T>(T) {
    T* elements = static_cast<T*>(out.data());
    for (std::int64_t n = 0; n < N; n += kColumns) {
      pack_columns(b, n, panel);
      const std::int64_t columns = std::min(kColumns, N - n);
      std::int64_t m = 0;
      for (; m + kRows <= M; m += kRows) {
        store_tile(multiply_tile<kRows>(a.data() + m * K, panel.data(), K), kRows, columns, N, elements + m * N + n);
      }
      for (; m < M; ++m) {
        store_tile(multiply_tile<1>(a.data() + m * K, panel.data(), K), 1, columns, N, elements + m * N + n);
      }
    }
  });
}

}  // namespace

Tensor matmul(const TensorView& a, const TensorView& b) {
  nn::require_floating("matmul", "a", a.dtype());
  nn::require_floating("matmul", "b", b.dtype());
  if (b.rank() != 2) throw InvalidArgument("matmul", "b", "rank 2, [K, N]", b.shape().to_string());
  nn::require_width("matmul", "a", b.dim(0), a.shape());
  Shape shape = a.shape();
  shape[shape.rank() - 1] = b.dim(1);
  Tensor out(a.dtype(), shape);
  multiply(a.to_vector(), b, out);
  return out;
}

}  // namespace qkv
