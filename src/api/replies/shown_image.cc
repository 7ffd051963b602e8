#include "api/replies/shown_image.h"

#include <algorithm>
#include <cmath>

namespace qkv::api_detail {

Tensor shown_image(const TensorView& colours) {
  Tensor pixels(DType::u8, {colours.dim(1), colours.dim(2), 3});
  auto out = pixels.values<std::uint8_t>().begin();
  for (std::int64_t y = 0; y < colours.dim(1); ++y) {
    for (std::int64_t x = 0; x < colours.dim(2); ++x) {
      for (std::int64_t c = 0; c < 3; ++c) {
        *out++ = static_cast<std::uint8_t>(std::lround(255 * std::clamp(colours.at({c, y, x}), 0.0, 1.0)));
      }
    }
  }
  return pixels;
}

}  // namespace qkv::api_detail
