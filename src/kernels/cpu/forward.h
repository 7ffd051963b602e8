// Fused attention on the CPU: one call, cut into tasks that each own their rows of the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/kv_rows.h"
#include "kernels/problem.h"
#include "kernels/tile.h"
#include "qkv/bias.h"
#include "qkv/mask.h"
#include "qkv/random.h"
#include "qkv/tensor.h"
#include "qkv/tile_plan.h"

namespace qkv::kernels::cpu {

/// The keys or the values of all heads of a segment.
struct KvHeads {
  KvRows first;  // head 0
  std::int64_t head_stride_bytes = 0;
  std::int64_t head_scale_stride = 0;

  [[nodiscard]] KvRows head(std::int64_t h) const {
    KvRows rows = first;
    rows.base += h * head_stride_bytes;
    if (rows.scales != nullptr) rows.scales += h * head_scale_stride;
    return rows;
  }
};

/// One batch entry, or one document of a ragged batch: queries and keys of its own lengths.
struct Segment {
  std::int64_t b = 0;              // as biases and dropout count
  MaskShape shape;                 // as biases see it
  MatrixWindow window = {};        // as dropout sees it
  const TilePlan* plan = nullptr;  // of tiles of kTile x kTile
  std::int64_t plan_b = 0;         // the batch entry of the plan
  TensorView q;                    // [Hq, Tq, D], last stride 1
  KvHeads k;
  KvHeads v;
  std::byte* out = nullptr;  // [Hq, Tq, Dv] of q's dtype or f32, last stride 1
  DType out_dtype = DType::f32;
  std::int64_t out_head_stride = 0;
  std::int64_t out_row_stride = 0;
  std::byte* lse = nullptr;  // [Hq, Tq] of f32 or f64
  DType lse_dtype = DType::f32;
  std::int64_t lse_head_stride = 0;
  std::int64_t lse_row_stride = 0;

  /// out [Hq, Tq, Dv], lse [Hq, Tq] in f32 or f64.
  void write_to(const MutableTensorView& out_rows, const MutableTensorView& lse_rows) {
    out = static_cast<std::byte*>(out_rows.data());
    out_dtype = out_rows.dtype();
    out_head_stride = out_rows.strides()[0];
    out_row_stride = out_rows.strides()[1];
    lse = static_cast<std::byte*>(lse_rows.data());
    lse_dtype = lse_rows.dtype();
    lse_head_stride = lse_rows.strides()[0];
    lse_row_stride = lse_rows.strides()[1];
  }
};

/// How a validated problem is computed. dtype f32, f16 or bf16; sums in f32.
struct Forward {
  std::span<const Segment> segments;
  const Problem* problem = nullptr;  // its scale, softcap, bias, dropout and sinks
  DType dtype = DType::f32;
  std::int64_t Hq = 1;
  std::int64_t Hk = 1;
  std::int64_t D = 1;
  std::int64_t Dv = 0;

  [[nodiscard]] std::int64_t group() const { return Hq / Hk; }
};

/// True if all keys and values of the call are of `dtype`.
[[gnu::always_inline]] inline bool holds(const Forward& call, DType dtype) {
  for (const Segment& segment : call.segments) {
    if (segment.k.first.dtype != dtype || segment.v.first.dtype != dtype) return false;
  }
  return true;
}

struct Target;

/// The compiled target of this name, or null.
[[nodiscard]] const Target* find_target(std::string_view name);

}  // namespace qkv::kernels::cpu
