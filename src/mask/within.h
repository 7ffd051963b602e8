// Windows of a larger matrix.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "qkv/bias.h"
#include "qkv/mask.h"

namespace qkv::mask_detail {

/// Throws InvalidArgument naming `function` and `argument` unless the window's numbers are sound.
void require_window(std::string_view function, std::string_view argument, const MatrixWindow& window);

/// The same, and unless the last of so many queries and keys lies inside the matrix.
void require_window_of(std::string_view function, std::string_view argument, const MatrixWindow& window,
                       std::int64_t queries, std::int64_t keys);

/// The shape, place and tile of the whole matrix. A tile reaches from its first query and key to its last.
[[nodiscard]] inline MaskShape whole_of(const MatrixWindow& window, const MaskShape& shape) {
  return {.B = shape.B, .H = shape.H, .Tq = window.Tq, .Tk = window.Tk};
}
[[nodiscard]] inline Place whole_of(const MatrixWindow& window, const Place& place) {
  return {.b = place.b, .h = place.h, .i = window.query(place.i), .j = window.key(place.j)};
}
[[nodiscard]] inline Tile whole_of(const MatrixWindow& window, const Tile& tile) {
  return {.b = tile.b,
          .h = tile.h,
          .i_begin = window.query(tile.i_begin),
          .i_end = window.query(tile.i_end - 1) + 1,
          .j_begin = window.key(tile.j_begin),
          .j_end = window.key(tile.j_end - 1) + 1};
}

/// How many keys of a window lie among `count` neighbouring ones of the matrix that start with one of them.
[[nodiscard]] inline std::int64_t keys_among(const MatrixWindow& window, std::int64_t count) {
  return (count - 1) / window.step_j + 1;
}

/// within() with a window for each batch entry, each of a matrix of its own. Of one window: for all.
[[nodiscard]] Mask within_each(const Mask& mask, const std::vector<MatrixWindow>& windows);
[[nodiscard]] Bias within_each(const Bias& bias, const std::vector<MatrixWindow>& windows);

/// The window of entry b of those.
[[nodiscard]] inline const MatrixWindow& window_of(const std::vector<MatrixWindow>& windows, std::int64_t b) {
  return windows.size() == 1 ? windows.front() : windows[static_cast<std::size_t>(b)];
}

}  // namespace qkv::mask_detail
