// The pictures of the worked examples: each drawn from the numbers that its step computes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "qkv/picture/diagram.h"
#include "qkv/tensor.h"

namespace qkv::worked {

using Vector2 = std::array<double, 2>;

[[nodiscard]] double dot(const Vector2& a, const Vector2& b);
[[nodiscard]] double length(const Vector2& a);
/// Of the angle between two vectors that are not zero.
[[nodiscard]] double cosine(const Vector2& a, const Vector2& b);

/// q and k as arrows, and k's shadow on q: q · k is its length times that of q.
[[nodiscard]] Diagram dot_product_diagram(const Vector2& q, const Vector2& k);
/// The angle between q and each k, side by side.
[[nodiscard]] Diagram angle_diagram(const Vector2& q, const std::vector<Vector2>& keys);
/// Q K^T of matrices of at most a few rows: row i of Q, column j of K^T and where they meet stand out.
[[nodiscard]] Diagram product_diagram(const TensorView& q, const TensorView& k, std::int64_t i, std::int64_t j);
/// Values [3, 2] as corners, and the shares of their weighted sum put tip to tail, from the origin.
[[nodiscard]] Diagram convex_diagram(const TensorView& values, const std::vector<double>& weights);
/// [T, H * D] seen as [T, H, D], transposed to [H, T, D], and reshaped straight to [H, T, D], which mixes tokens; each
/// number is its place in memory.
[[nodiscard]] Diagram heads_diagram(std::int64_t tokens, std::int64_t heads, std::int64_t width);

}  // namespace qkv::worked
