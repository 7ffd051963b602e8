// Images in their own colours, with weights laid over their patches, for the terminal, SVG and PNG.
#pragma once

#include <string>
#include <vector>

#include "qkv/picture/terminal.h"
#include "qkv/tensor.h"

namespace qkv {

/// An image to be drawn. Where it has weights, its patches sink under a dark veil of opacity 0.85 (1 - weight /
/// largest), so that the patch with the largest weight shows as it is.
struct Image {
  std::string title;
  Tensor pixels;   // [3, H, W], floating: red, green and blue of sRGB in [0, 1]
  Tensor weights;  // empty, or [rows, columns], >= 0: one a patch
  Tensor marked;   // empty, or b8 [rows, columns]: patches that are outlined
};

/// Images side by side, wrapped into rows, each with its title.
struct Gallery {
  std::string title;
  std::vector<Image> images;
};

// All three throw InvalidArgument for a gallery without images, pixels that are not [3, H, W] with pixels, weights or
// marks that are no matrix with elements, and weights that are negative or not finite. The same gallery always gives
// the same bytes.

/// Half blocks, an image of more than 24 columns as means of its pixels; marked patches stand beside it as an image of
/// their own, in the same row. In ASCII a letter for the colour of each patch or block of pixels (w white, k black,
/// else red, green, blue, cyan, magenta, yellow), or its weight as a digit of nine; marked ones in brackets.
[[nodiscard]] std::string to_terminal(const Gallery& gallery, const TerminalOptions& options);
/// See the functions of the same names for heatmaps.
[[nodiscard]] std::string to_svg(const Gallery& gallery);
[[nodiscard]] std::string to_png(const Gallery& gallery, double pixels_per_point = 2.0);

}  // namespace qkv
