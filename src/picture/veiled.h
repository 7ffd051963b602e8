// The colours of an image under its weights, pixel by pixel.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "qkv/picture/colour.h"
#include "qkv/picture/image.h"

namespace qkv::picture {

struct Pixels {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<Rgb> colours;  // row by row

  [[nodiscard]] Rgb at(std::int64_t row, std::int64_t column) const {
    return colours[static_cast<std::size_t>(row * width + column)];
  }
};

/// Throws InvalidArgument of `function` as image.h says.
void require_sound(std::string_view function, const Gallery& gallery);

/// Brought to at most `most` columns, each pixel the mean of a square, in their own colours.
[[nodiscard]] Pixels pixels_of(const TensorView& image, std::int64_t most);

/// Under the veil of these weights.
[[nodiscard]] Pixels veiled(Pixels pixels, const TensorView& weights);

/// Weights of 1 for the marked patches, 0 for the others.
[[nodiscard]] Tensor weights_of_marks(const TensorView& marked);

}  // namespace qkv::picture
