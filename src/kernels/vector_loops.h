// The loops beside attention that are compiled once for each width of vectors, and which of them a call runs.
#pragma once

#include <cstdint>

#include "kernels/built_targets.h"
#include "kernels/linear/loops.h"
#include "kernels/product/few_rows_problem.h"
#include "kernels/product/panels.h"

namespace qkv::kernels {

/// What vectorised() compiles its loops for.
enum class Vectors : std::uint8_t { baseline, avx2, avx512 };

struct VectorLoops {
  Vectors vectors = Vectors::baseline;
  /// `count` elements of bf16 or f16 as f32, and back with one rounding.
  void (*widen)(DType dtype, const void* x, std::int64_t count, float* to) = nullptr;
  void (*narrow)(DType dtype, const float* x, std::int64_t count, void* to) = nullptr;
  /// Columns [begin, end) of `out`. Each sum is f32, in an order that depends on K and the width of vectors alone. The
  /// weight is read about once from memory, whatever M is; from some 16 rows on a product of matrices is faster.
  /// Allocates nothing.
  void (*few_rows)(const FewRows& product, std::int64_t begin, std::int64_t end) = nullptr;
  /// Of panels of f32.
  PanelLoops panels = {};
  linear::Loops<float> linear = {};
};

/// For any machine.
namespace baseline {
extern const VectorLoops kLoops;
}

// <target>::kLoops, where a target has loops of its own: loops_<target>.cc.
#define QKV_DECLARE(name)          \
  namespace name {                 \
  extern const VectorLoops kLoops; \
  }
QKV_BUILT_TARGETS(QKV_DECLARE)
#undef QKV_DECLARE

/// Those of the target that qkv::cpu_targets() chooses, or of the first of its substitutes that has any, or the
/// baseline's. The machine is queried once.
[[nodiscard]] const VectorLoops& chosen_loops();

}  // namespace qkv::kernels
