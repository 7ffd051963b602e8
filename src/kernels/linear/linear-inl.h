// Compiled once for each width of vectors: QKV_LOOPS names it, QKV_VECTOR_BYTES is its width. Nothing of the standard
// library that could be shared between those copies is used here.
#include <bit>
#include <cstring>

#include "core/exact_math.h"
#include "kernels/linear/loops.h"

namespace qkv::kernels::linear::QKV_LOOPS {
namespace {  // NOLINT(cert-dcl59-cpp,misc-anonymous-namespace-in-header): compiled once per target

template <class T>
struct Lanes;

template <>
struct Lanes<float> {
  using Vector = float __attribute__((vector_size(QKV_VECTOR_BYTES)));
};

template <>
struct Lanes<double> {
  using Vector = double __attribute__((vector_size(QKV_VECTOR_BYTES)));
};

using Integers = std::int32_t __attribute__((vector_size(QKV_VECTOR_BYTES)));

template <class T>
inline constexpr int kLanes = QKV_VECTOR_BYTES / static_cast<int>(sizeof(T));

template <class T>
[[gnu::always_inline]] inline typename Lanes<T>::Vector load(const T* from) {
  typename Lanes<T>::Vector value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <class T>
[[gnu::always_inline]] inline void store(T* to, typename Lanes<T>::Vector value) {
  std::memcpy(to, &value, sizeof(value));
}

constexpr int kRows = QKV_VECTOR_BYTES == 64 ? 6 : 2;  // with 4 vectors each they fill the registers

template <class T, int Rows, int Vectors>
void product_block(const Product<T>& p, std::int64_t row, std::int64_t column) {
  typename Lanes<T>::Vector sums[Rows][Vectors] = {};
  const T* a = p.a + row * p.row_stride;
  const T* b = p.b + column;
  for (std::int64_t step = 0; step < p.steps; ++step, a += p.step_stride, b += p.width) {
    typename Lanes<T>::Vector values[Vectors];
    for (int x = 0; x < Vectors; ++x) values[x] = load(b + x * kLanes<T>);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const T factor = a[r * p.row_stride];
#pragma GCC unroll 4
      for (int x = 0; x < Vectors; ++x) sums[r][x] += factor * values[x];
    }
  }
  for (int r = 0; r < Rows; ++r) {
    T* c = p.c + (row + r) * p.width + column;
    for (int x = 0; x < Vectors; ++x) store(c + x * kLanes<T>, load(c + x * kLanes<T>) + sums[r][x]);
  }
}

template <class T, int Vectors>
struct ProductColumns {
  static void run(const Product<T>& p, std::int64_t column) {
    std::int64_t row = 0;
    for (; row + kRows <= p.rows; row += kRows) product_block<T, kRows, Vectors>(p, row, column);
    for (; row < p.rows; ++row) product_block<T, 1, Vectors>(p, row, column);
  }
};

template <class T, int Vectors>
[[gnu::always_inline]] inline void read_row(const T* q, const T* state, const Walk<T>& w, T* out) {
  typename Lanes<T>::Vector sums[Vectors] = {};
  for (std::int64_t d = 0; d < w.D; ++d) {
    for (int x = 0; x < Vectors; ++x) sums[x] += q[d] * load(state + d * w.width + x * kLanes<T>);
  }
  for (int x = 0; x < Vectors; ++x) store(out + x * kLanes<T>, sums[x]);
}

template <class T, int Vectors>
struct WalkColumns {
  using Vector = typename Lanes<T>::Vector;

  static void run(const Walk<T>& w, std::int64_t column) {
    T* state = w.state + column;
    for (std::int64_t t = 0; t < w.tokens; ++t) {
      Vector written[Vectors];
      for (int x = 0; x < Vectors; ++x) written[x] = load(w.v + t * w.width + column + x * kLanes<T>);
      if (w.rate != nullptr) {
        correct(w, t, state, written);
        write_and_read<false>(w, t, column, written);
      } else if (w.keep != nullptr) {
        write_and_read<true>(w, t, column, written);
      } else {
        write_and_read<false>(w, t, column, written);
      }
      for (std::int64_t g = 1; g < w.group; ++g) {
        const std::int64_t row = g * w.tokens + t;
        read_row<T, Vectors>(w.q + row * w.D, state, w, w.out + row * w.width + column);
      }
    }
  }

  // The delta rule: what the state, once decayed, holds for this key is taken from what is written.
  static void correct(const Walk<T>& w, std::int64_t t, T* state, Vector (&written)[Vectors]) {
    const T* k = w.k + t * w.D;
    Vector held[Vectors] = {};
    for (std::int64_t d = 0; d < w.D; ++d) {
      T* row = state + d * w.width;
      for (int x = 0; x < Vectors; ++x) {
        Vector s = load(row + x * kLanes<T>);
        if (w.keep != nullptr) {
          s *= w.keep[t * w.D + d];
          store(row + x * kLanes<T>, s);
        }
        held[x] += k[d] * s;
      }
    }
    for (int x = 0; x < Vectors; ++x) written[x] = w.rate[t] * (written[x] - held[x]);
  }

  template <bool kDecays>
  static void write_and_read(const Walk<T>& w, std::int64_t t, std::int64_t column, const Vector (&written)[Vectors]) {
    const T* k = w.k + t * w.D;
    const T* q = w.q + t * w.D;
    const T* keep = w.keep + (kDecays ? t * w.D : 0);
    Vector sums[Vectors] = {};
    for (std::int64_t d = 0; d < w.D; ++d) {
      T* row = w.state + d * w.width + column;
#pragma GCC unroll 4
      for (int x = 0; x < Vectors; ++x) {
        Vector s = load(row + x * kLanes<T>);
        if constexpr (kDecays) s *= keep[d];
        s += k[d] * written[x];
        store(row + x * kLanes<T>, s);
        sums[x] += q[d] * s;
      }
    }
    for (int x = 0; x < Vectors; ++x) store(w.out + t * w.width + column + x * kLanes<T>, sums[x]);
  }
};

// Four vectors at a time, then what is left of the row.
template <class T, template <class, int> class Columns, class Call>
void for_columns(const Call& call) {
  std::int64_t column = 0;
  for (; column + 4 * kLanes<T> <= call.width; column += 4 * kLanes<T>) Columns<T, 4>::run(call, column);
  for (; column < call.width; column += kLanes<T>) Columns<T, 1>::run(call, column);
}

template <class T>
void product(const Product<T>& p) {
  for_columns<T, ProductColumns>(p);
}

template <class T>
void walk(const Walk<T>& w) {
  for_columns<T, WalkColumns>(w);
}

inline Lanes<float>::Vector splat(float value) { return value - Lanes<float>::Vector{}; }

// exp(x) = 2^n exp(r) with |r| <= log(2) / 2; the polynomial is Cephes' expf. Adding 1.5 * 2^23 rounds to a whole
// number, and 2^n is multiplied in halves, so that both ends of the range come out as they should.
[[gnu::always_inline]] inline Lanes<float>::Vector exponential_of(Lanes<float>::Vector x) {
  using Vector = Lanes<float>::Vector;
  constexpr float kRound = 0x1.8p23F;
  x = x < -104.0F ? splat(-104.0F) : x;
  x = x > 89.0F ? splat(89.0F) : x;
  const Vector shifted = x * 1.44269504F + kRound;  // NOLINT(modernize-use-std-numbers): as below
  const Vector n = shifted - kRound;
  const Vector r = x - n * 0.693359375F + n * 2.12194440e-4F;  // NOLINT(modernize-use-std-numbers): in two parts
  Vector p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const Integers whole = std::bit_cast<Integers>(shifted) - std::bit_cast<std::int32_t>(kRound);
  const Integers half = whole >> 1;
  return p * std::bit_cast<Vector>((half + 127) << 23) * std::bit_cast<Vector>((whole - half + 127) << 23);
}

[[maybe_unused]] void exponential(float* x, std::int64_t count) {
  std::int64_t n = 0;
  for (; n + kLanes<float> <= count; n += kLanes<float>) store(x + n, exponential_of(load(x + n)));
  if (n == count) return;
  float last[kLanes<float>] = {};
  std::memcpy(last, x + n, static_cast<std::size_t>(count - n) * sizeof(float));
  store(last, exponential_of(load(static_cast<const float*>(last))));
  std::memcpy(x + n, last, static_cast<std::size_t>(count - n) * sizeof(float));
}

[[maybe_unused]] void exponential(double* x, std::int64_t count) {
  for (std::int64_t n = 0; n < count; ++n) x[n] = core::exp(x[n]);
}

template <class T>
constexpr Loops<T> kLoops = {.product = product<T>, .walk = walk<T>, .exponential = exponential};

}  // namespace

}  // namespace qkv::kernels::linear::QKV_LOOPS
