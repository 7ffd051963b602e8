// Rotary positions: pairs of elements rotated by an angle that depends on the position.
#pragma once

#include <cstdint>
#include <string_view>

#include "qkv/autograd/variable.h"

namespace qkv {

/// Which elements of a head make a pair.
enum class RotaryLayout : std::uint8_t {
  interleaved,  // (2i, 2i + 1): the paper, GPT-J, Llama's own code
  half_split,   // (i, i + dim / 2): GPT-NeoX, Hugging Face
};

/// "interleaved" or "half_split".
[[nodiscard]] std::string_view name_of(RotaryLayout layout) noexcept;

/// cos and sin of every (position, pair): [T, dim / 2], or [B, T, dim / 2] where each batch entry has its own
/// positions. qkv/nn/position.h makes them.
struct RotaryTables {
  Tensor cos;
  Tensor sin;
  RotaryLayout layout = RotaryLayout::half_split;
};

/// x [B, H, T, D] with each pair (a, b) of its first dim elements rotated to (a cos - b sin, a sin + b cos); the other
/// D - dim elements are unchanged. The gradient is rotated back. The result is laid out so that merge_heads() shares
/// it. f64 in f64, else computed in f32. Throws InvalidArgument naming x, cos or sin. Su et al. 2021, section 3.4.2.
[[nodiscard]] Variable rotary(const Variable& x, const RotaryTables& tables);

}  // namespace qkv
