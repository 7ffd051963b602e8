#include "qkv/image.h"

#include <algorithm>
#include <string>
#include <vector>

#include "qkv/error.h"

namespace qkv {
namespace {

constexpr std::int64_t kChannels = 3;
constexpr float kLevels = 255;

// The pixels along one axis that a pixel of the result is made of.
struct Mixture {
  std::int64_t first = 0;
  std::vector<float> weights;  // sum to 1
};

// The share of the area from place * ratio to (place + 1) * ratio that each pixel has.
Mixture area(std::int64_t place, double ratio, std::int64_t length) {
  const double begin = static_cast<double>(place) * ratio;
  const double end = begin + ratio;
  Mixture mixture{.first = static_cast<std::int64_t>(begin), .weights = {}};
  for (std::int64_t pixel = mixture.first; pixel < length && static_cast<double>(pixel) < end; ++pixel) {
    const double covered = std::min(end, static_cast<double>(pixel + 1)) - std::max(begin, static_cast<double>(pixel));
    mixture.weights.push_back(static_cast<float>(covered / ratio));
  }
  return mixture;
}

// The two pixels whose middles the middle of the place lies between; the outermost beyond them.
Mixture between(std::int64_t place, double ratio, std::int64_t length) {
  const double middle = (static_cast<double>(place) + 0.5) * ratio - 0.5;
  const double within = std::clamp(middle, 0.0, static_cast<double>(length - 1));
  const auto first = static_cast<std::int64_t>(within);
  const auto share = static_cast<float>(within - static_cast<double>(first));
  if (first + 1 == length) return {.first = first, .weights = {1}};
  return {.first = first, .weights = {1 - share, share}};
}

std::vector<Mixture> mixtures(std::int64_t length, std::int64_t side) {
  const double ratio = static_cast<double>(length) / static_cast<double>(side);
  std::vector<Mixture> all;
  all.reserve(static_cast<std::size_t>(side));
  for (std::int64_t place = 0; place < side; ++place) {
    all.push_back(length > side ? area(place, ratio, length) : between(place, ratio, length));
  }
  return all;
}

// u8 [H, W, 3] -> f32 [H, side, 3].
std::vector<float> across(const Tensor& picture, std::int64_t side) {
  const std::int64_t height = picture.dim(0);
  const std::int64_t width = picture.dim(1);
  const auto* pixels = picture.values<std::uint8_t>().data();
  const std::vector<Mixture> columns = mixtures(width, side);
  std::vector<float> rows(static_cast<std::size_t>(height * side * kChannels));
  float* to = rows.data();
  for (std::int64_t y = 0; y < height; ++y) {
    for (const Mixture& column : columns) {
      const std::uint8_t* from = pixels + (y * width + column.first) * kChannels;
      for (const float weight : column.weights) {
        for (std::int64_t c = 0; c < kChannels; ++c) to[c] += weight * static_cast<float>(*from++);
      }
      to += kChannels;
    }
  }
  return rows;
}

}  // namespace

Tensor image_of(const TensorView& picture, std::int64_t side) {
  constexpr const char* kFunction = "image_of";
  if (side < 1) throw InvalidArgument(kFunction, "side", "1 or more", std::to_string(side));
  if (picture.dtype() != DType::u8 || picture.rank() != 3 || picture.dim(2) != kChannels || picture.size() == 0) {
    throw InvalidArgument(kFunction, "picture", "u8 [H, W, 3] with pixels",
                          std::string(name_of(picture.dtype())) + " " + picture.shape().to_string());
  }
  const std::vector<float> rows = across(Tensor(picture), side);
  const std::vector<Mixture> lines = mixtures(picture.dim(0), side);
  Tensor image(DType::f32, {kChannels, side, side});
  float* to = image.values<float>().data();
  for (std::int64_t c = 0; c < kChannels; ++c) {
    for (const Mixture& line : lines) {
      for (std::int64_t x = 0; x < side; ++x) {
        float sum = 0;
        for (std::size_t n = 0; n < line.weights.size(); ++n) {
          const std::int64_t y = line.first + static_cast<std::int64_t>(n);
          sum += line.weights[n] * rows[static_cast<std::size_t>((y * side + x) * kChannels + c)];
        }
        *to++ = std::min(sum / kLevels, 1.0F);
      }
    }
  }
  return image;
}

}  // namespace qkv
