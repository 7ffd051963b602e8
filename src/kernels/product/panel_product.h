// Products of matrices whose rows and columns are first laid side by side in panels.
#pragma once

#include <cstdint>

#include "core/block_pool.h"
#include "kernels/product/panels.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

enum class Into : std::uint8_t { written, added };

/// The loops for factors of these dtypes: of pairs where both are bf16 and the machine multiplies pairs, else of f32,
/// in which bf16 and f16 are exact.
[[nodiscard]] const PanelLoops& panel_loops(DType a, DType b);

/// A matrix [lanes, K] of f32, bf16 or f16 with any strides, in panels of `width` lanes. Holds a word of 32 bits for
/// each element, or for two where `loops` are of pairs.
class Panels {
 public:
  Panels(const PanelLoops& loops, std::int64_t width, const TensorView& lanes, int threads);

  [[nodiscard]] const PanelLoops& loops() const noexcept { return *loops_; }
  [[nodiscard]] std::int64_t lanes() const noexcept { return lanes_; }
  /// Words of K.
  [[nodiscard]] std::int64_t depth() const noexcept { return depth_; }
  /// Words from one panel to the next.
  [[nodiscard]] std::int64_t stride() const noexcept { return depth_ * width_; }
  /// That which begins with this lane, a multiple of the width.
  [[nodiscard]] const std::uint32_t* at(std::int64_t lane) const {
    return static_cast<const std::uint32_t*>(words_.data()) + lane / width_ * stride();
  }

 private:
  const PanelLoops* loops_;
  std::int64_t width_;
  std::int64_t lanes_;
  std::int64_t depth_;
  core::PooledBlock words_;
};

/// out [M, N] of f32, bf16 or f16, whose rows are dense, = or += a [M, K] b [N, K]^T + bias [N] (dense, f32; null for
/// none), for b laid in panels of its loops' columns. Added to is f32 alone. Sums are f32, in an order that K alone
/// decides. Rows of a are read as
/// they lie where they are dense and of words, else panels of it are made, a few MB at a time. Allocates these, and
/// sums of a task where out is not f32.
void multiply_panels(const MutableTensorView& out, const TensorView& a, const Panels& b, const float* bias, Into into,
                     int threads);

/// The same for b [N, K] as it lies, whose panels are made a few MB at a time.
void multiply_in_panels(const MutableTensorView& out, const TensorView& a, const TensorView& b, const float* bias,
                        int threads);

}  // namespace qkv::kernels
