// Products of matrices by panels: the loops of one target, and which of them a call runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/built_targets.h"
#include "qkv/dtype.h"

namespace qkv::kernels {

/// Lanes of a matrix side by side: rows of A, or columns of B. A word of a panel [depth][lanes] is an f32, or two bf16
/// that stand one behind the other along K.
struct PanelSource {
  const void* first = nullptr;
  DType dtype = DType::f32;      // f32, bf16 or f16
  std::int64_t lane_stride = 0;  // in elements
  std::int64_t depth_stride = 0;
  std::int64_t lanes = 0;  // that are there; those behind are zeros
  std::int64_t depth = 0;  // elements along K
};

enum class PanelSum : std::uint8_t { first, onto };

/// out[rows][columns] (+)= left right + bias, of neighbouring panels and some of their depth. Words of A lie in panels,
/// or in the rows of the matrix itself.
struct PanelBlock {
  const std::byte* left = nullptr;
  std::int64_t left_row = 0;    // bytes from one row to the next in a panel
  std::int64_t left_step = 0;   // bytes from one word of a row to the next
  std::int64_t left_panel = 0;  // bytes from one panel to the next
  const std::uint32_t* right = nullptr;
  std::int64_t right_panel = 0;  // words
  std::int64_t depth = 0;        // words
  float* out = nullptr;
  std::int64_t out_row = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const float* bias = nullptr;  // [columns]; null for none
  PanelSum sum = PanelSum::first;
};

/// Each sum is f32, of one word of K after the other, whatever the shape.
struct PanelLoops {
  std::int64_t elements = 1;  // of a word: 1 of f32, or 2 of bf16
  std::int64_t rows = 0;      // lanes of a panel of A
  std::int64_t columns = 0;   // lanes of a panel of B
  /// A panel of `width` lanes; for pairs the source is of bf16.
  void (*lay)(const PanelSource& source, std::int64_t width, std::uint32_t* panel) = nullptr;
  void (*multiply)(const PanelBlock& block) = nullptr;
};

// <target>::kPairs, where a target multiplies pairs of bf16: product/pairs_<target>.cc.
#define QKV_DECLARE(name)         \
  namespace name {                \
  extern const PanelLoops kPairs; \
  }
QKV_BUILT_TARGETS(QKV_DECLARE)
#undef QKV_DECLARE

/// Those of pairs of bf16 of the target that qkv::cpu_targets() chooses, or of the first of its substitutes that has
/// any; null where none has. Those of f32 are of chosen_loops().
[[nodiscard]] const PanelLoops* chosen_pairs();

}  // namespace qkv::kernels
