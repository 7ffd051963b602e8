#include "picture/veiled.h"

#include <algorithm>
#include <cmath>

#include "core/plain_number.h"
#include "qkv/error.h"

namespace qkv::picture {
namespace {

constexpr double kOpacity = 0.85;
constexpr Rgb kVeil{.red = 0x15, .green = 0x17, .blue = 0x1d};

void require(bool holds, std::string_view function, const char* argument, std::string_view expected,
             const TensorView& got) {
  if (!holds) throw InvalidArgument(function, argument, expected, got.shape().to_string());
}

bool is_matrix(const TensorView& tensor) { return tensor.rank() == 2 && tensor.size() > 0; }

std::uint8_t byte_of(double share) { return static_cast<std::uint8_t>(std::lround(255 * std::clamp(share, 0.0, 1.0))); }

std::uint8_t mixed(std::uint8_t colour, std::uint8_t veil, double opacity) {
  return static_cast<std::uint8_t>(std::lround((1 - opacity) * colour + opacity * veil));
}

}  // namespace

void require_sound(std::string_view function, const Gallery& gallery) {
  if (gallery.images.empty()) throw InvalidArgument(function, "images", "one or more", "none");
  for (const Image& image : gallery.images) {
    require(image.pixels.rank() == 3 && image.pixels.dim(0) == 3 && image.pixels.size() > 0, function, "pixels",
            "[3, H, W]", image.pixels);
    require(image.marked.empty() || is_matrix(image.marked), function, "marked", "[rows, columns]", image.marked);
    if (image.weights.empty()) continue;
    require(is_matrix(image.weights), function, "weights", "[rows, columns]", image.weights);
    for (const double weight : image.weights.to_vector()) {
      if (!(weight >= 0) || std::isinf(weight)) {
        throw InvalidArgument(function, "weights", "numbers >= 0", core::plain_number(weight));
      }
    }
  }
}

Pixels pixels_of(const TensorView& image, std::int64_t most) {
  const std::int64_t block = (image.dim(2) + most - 1) / most;
  Pixels pixels{
      .height = (image.dim(1) + block - 1) / block, .width = (image.dim(2) + block - 1) / block, .colours = {}};
  for (std::int64_t row = 0; row < pixels.height; ++row) {
    for (std::int64_t column = 0; column < pixels.width; ++column) {
      const TensorView part = image.slice(1, row * block, std::min(image.dim(1), (row + 1) * block))
                                  .slice(2, column * block, std::min(image.dim(2), (column + 1) * block));
      const auto mean = [&](std::int64_t channel) {
        double sum = 0;
        for (const double value : part.select(0, channel).to_vector()) sum += value;
        return byte_of(3 * sum / static_cast<double>(part.size()));
      };
      pixels.colours.push_back({.red = mean(0), .green = mean(1), .blue = mean(2)});
    }
  }
  return pixels;
}

Pixels veiled(Pixels pixels, const TensorView& weights) {
  const std::vector<double> all = weights.to_vector();
  const double largest = *std::ranges::max_element(all);
  for (std::int64_t row = 0; row < pixels.height; ++row) {
    for (std::int64_t column = 0; column < pixels.width; ++column) {
      const std::int64_t patch =
          row * weights.dim(0) / pixels.height * weights.dim(1) + column * weights.dim(1) / pixels.width;
      const double share = largest > 0 ? all[static_cast<std::size_t>(patch)] / largest : 0;
      const double opacity = kOpacity * (1 - share);
      Rgb& colour = pixels.colours[static_cast<std::size_t>(row * pixels.width + column)];
      colour = {.red = mixed(colour.red, kVeil.red, opacity),
                .green = mixed(colour.green, kVeil.green, opacity),
                .blue = mixed(colour.blue, kVeil.blue, opacity)};
    }
  }
  return pixels;
}

Tensor weights_of_marks(const TensorView& marked) { return {marked, DType::f64}; }

}  // namespace qkv::picture
