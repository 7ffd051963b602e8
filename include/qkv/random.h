// Random numbers: PyTorch's CPU generator, number for number, and the counter-based function of dropout.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "qkv/tensor.h"

namespace qkv {

/// mt19937 drawn from as PyTorch's CPU generator does (`torch.manual_seed(seed)`): the same numbers for the same
/// sequence of calls, to 1e-6, in f32 and f64. Each call allocates its result and throws InvalidArgument for another
/// dtype, a negative extent, an empty range or a probability outside [0, 1]. Not safe to share between threads.
class Generator {
 public:
  explicit Generator(std::uint64_t seed);
  Generator(Generator&&) noexcept;
  Generator& operator=(Generator&&) noexcept;
  ~Generator();

  /// Standard normal numbers: `torch.randn(shape, dtype)`. dtype f32 or f64.
  [[nodiscard]] Tensor randn(const Shape& shape, DType dtype = DType::f32);
  /// Uniform on [0, 1): `torch.rand(shape, dtype)`. dtype f32 or f64.
  [[nodiscard]] Tensor rand(const Shape& shape, DType dtype = DType::f32);
  /// Uniform integers in [low, high) as i64: `torch.randint(low, high, shape)`.
  [[nodiscard]] Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape);
  /// A permutation of 0 … n-1 as i64 [n]: `torch.randperm(n)`.
  [[nodiscard]] Tensor randperm(std::int64_t n);
  /// 1 with probability p, else 0: `torch.empty(shape, dtype).bernoulli_(p)`. dtype f32 or f64.
  [[nodiscard]] Tensor bernoulli(double p, const Shape& shape, DType dtype = DType::f32);
  /// 1 with the probability at the same index of p, else 0, in p's shape and dtype: `torch.bernoulli(p)` of a
  /// contiguous p. f32 or f64.
  [[nodiscard]] Tensor bernoulli(const TensorView& p);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Each weight is set to 0 with probability p; those that stay are divided by 1 - p.
struct Dropout {
  double p = 0.0;  // in [0, 1)
  std::uint64_t seed = 0;
};

/// The indices of a weight: batch, query head, query, key.
struct Place {
  std::int64_t b = 0;
  std::int64_t h = 0;
  std::int64_t i = 0;
  std::int64_t j = 0;
};

/// Dropout's function: true if the weight at `place` is kept, with probability 1 - p. A pure function of (seed, place),
/// so the same on every target, in any order, and in the backward pass. Philox4x32-10 (Salmon et al. 2011):
/// key = (low, high half of seed), counter = (j / 4, i, h, b), each of 32 bits; word j mod 4; kept if the word is at
/// least floor(p * 2^32).
[[nodiscard]] bool dropout_keeps(std::uint64_t seed, double p, const Place& place) noexcept;

}  // namespace qkv
