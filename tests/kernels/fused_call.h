// Problems of normal numbers, and the fused kernel on a problem of the reference, so that both can be asked the same.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "attention/qkv.h"
#include "kernels/cpu/forward.h"
#include "kernels/plain.h"
#include "kernels/problem.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

struct Sizes {
  std::int64_t B = 1;
  std::int64_t Hk = 1;
  std::int64_t group = 1;
  std::int64_t Tq = 37;
  std::int64_t Tk = 131;
  std::int64_t D = 24;
  std::int64_t Dv = 40;
};

/// Standard normal numbers, rounded to a dtype.
[[nodiscard]] Tensor normal(std::mt19937_64& engine, const Shape& shape, DType dtype);

/// Standard normal q, k and v, rounded to a dtype.
struct NormalQkv : testing_attention::Qkv {
  explicit NormalQkv(DType dtype, const Sizes& chosen = {}, std::uint64_t seed = 11);

  /// A call without options on q and k.
  [[nodiscard]] Problem problem(double scale = 0.3) const;

  std::mt19937_64 engine;
  Sizes sizes;
};

/// out of q's dtype and lse of f32; k and v are dense.
[[nodiscard]] Results fused_call(const cpu::Target& target, const Problem& problem, const TensorView& v, int threads);

/// The same on a target that is one of those below.
[[nodiscard]] Results fused_call(std::string_view target, const Problem& problem, const TensorView& v, int threads);

/// The targets that are compiled and run here.
[[nodiscard]] std::vector<std::string_view> fused_targets();

}  // namespace qkv::kernels
