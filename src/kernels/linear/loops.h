// The inner loops over a state [D][width], compiled once for each width of vectors.
#pragma once

#include <cstdint>

namespace qkv::kernels::linear {

/// Bytes of which a row of values, sums or a state is a multiple; the places behind the Dv-th are zeros.
inline constexpr std::int64_t kRowBytes = 64;

/// c[row][n] += sum over steps of a(row, step) * b[step][n], element a(row, step) at a[row * row_stride + step *
/// step_stride]. Rows of b and c are `width` apart.
template <class T>
struct Product {
  const T* a = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t step_stride = 0;
  const T* b = nullptr;
  T* c = nullptr;
  std::int64_t rows = 0;
  std::int64_t steps = 0;
  std::int64_t width = 0;
};

/// Tokens one after the other: the state's rows are multiplied by `keep`, the token is written, its queries read.
template <class T>
struct Walk {
  const T* k = nullptr;     // [tokens][D]
  const T* v = nullptr;     // [tokens][width]
  const T* keep = nullptr;  // [tokens][D]; null: 1
  const T* rate = nullptr;  // [tokens]: written is k times rate * (v - k state); null: k times v
  const T* q = nullptr;     // [group][tokens][D]
  T* state = nullptr;       // [D][width]
  T* out = nullptr;         // [group][tokens][width]
  std::int64_t tokens = 0;
  std::int64_t D = 0;
  std::int64_t width = 0;
  std::int64_t group = 1;
};

template <class T>
struct Loops {
  void (*product)(const Product<T>&);
  void (*walk)(const Walk<T>&);
  void (*exponential)(T* x, std::int64_t count);  // x = exp(x)
};

/// In f32 those of chosen_loops(); in f64 those of any machine, which fuse no product with a sum.
template <class T>
const Loops<T>& loops_for();
template <>
const Loops<float>& loops_for<float>();
template <>
const Loops<double>& loops_for<double>();

}  // namespace qkv::kernels::linear
