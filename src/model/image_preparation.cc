#include "qkv/model/image_preparation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/resize_shares.h"
#include "qkv/error.h"

namespace qkv {
namespace {

// Weights are whole numbers of this many binary digits, as Pillow has them for pixels of 8 bits.
constexpr int kWeightBits = 22;
constexpr std::int64_t kMostPixels = std::int64_t{1} << 28;

double reach_of(ResizeFilter filter) { return filter == ResizeFilter::bicubic ? 2 : 1; }

double weight_at(ResizeFilter filter, double distance) {
  const double x = std::fabs(distance);
  if (filter == ResizeFilter::bilinear) return x < 1 ? 1 - x : 0;
  constexpr double kA = -0.5;
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * kA : 0;
}

// The pixels that make one of the result.
struct Taps {
  std::int64_t first = 0;
  std::vector<std::int64_t> weights = {};
};

Taps taps_of(std::int64_t place, std::int64_t in, std::int64_t out, ResizeFilter filter) {
  const ResizeShares own = resize_shares(place, in, out, filter);
  Taps taps{.first = own.first};
  for (const double share : own.shares) {
    taps.weights.push_back(std::llround(share * static_cast<double>(std::int64_t{1} << kWeightBits)));
  }
  return taps;
}

// Pixels as [outer, in, inner] -> [outer, out, inner].
std::vector<std::uint8_t> resized_along(const std::vector<std::uint8_t>& from, std::int64_t in, std::int64_t out,
                                        std::int64_t inner, ResizeFilter filter) {
  if (in == out) return from;
  const std::int64_t outer = static_cast<std::int64_t>(from.size()) / (in * inner);
  std::vector<std::uint8_t> to(static_cast<std::size_t>(outer * out * inner));
  for (std::int64_t place = 0; place < out; ++place) {
    const Taps taps = taps_of(place, in, out, filter);
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t i = 0; i < inner; ++i) {
        std::int64_t sum = std::int64_t{1} << (kWeightBits - 1);
        std::int64_t pixel = (o * in + taps.first) * inner + i;
        for (const std::int64_t weight : taps.weights) {
          sum += weight * from[static_cast<std::size_t>(pixel)];
          pixel += inner;
        }
        const std::int64_t value = std::clamp<std::int64_t>(sum >> kWeightBits, 0, 255);
        to[static_cast<std::size_t>((o * out + place) * inner + i)] = static_cast<std::uint8_t>(value);
      }
    }
  }
  return to;
}

[[noreturn]] void refuse_image(std::string_view function, const std::string& expected, const TensorView& picture) {
  throw InvalidArgument(function, "picture", expected,
                        std::string(name_of(picture.dtype())) + " " + picture.shape().to_string());
}

Tensor resized_for(const TensorView& picture, const ImagePreparation& preparation) {
  if (preparation.size) return resize_image(picture, *preparation.size, preparation.filter);
  if (!preparation.shortest_edge) return Tensor(picture);
  const std::int64_t shorter = std::min(picture.dim(0), picture.dim(1));
  const auto side = [&](int axis) { return *preparation.shortest_edge * picture.dim(axis) / shorter; };
  return resize_image(picture, {.height = side(0), .width = side(1)}, preparation.filter);
}

}  // namespace

ResizeShares resize_shares(std::int64_t place, std::int64_t in, std::int64_t out, ResizeFilter filter) {
  const double step = static_cast<double>(in) / static_cast<double>(out);
  const double stretch = std::max(step, 1.0);
  const double reach = reach_of(filter) * stretch;
  const double centre = (static_cast<double>(place) + 0.5) * step;
  ResizeShares own{.first = std::max(static_cast<std::int64_t>(std::floor(centre - reach + 0.5)), std::int64_t{0})};
  const auto end = std::min(static_cast<std::int64_t>(std::floor(centre + reach + 0.5)), in);
  double sum = 0;
  for (std::int64_t n = own.first; n < end; ++n) {
    own.shares.push_back(weight_at(filter, (static_cast<double>(n) - centre + 0.5) * (1 / stretch)));
    sum += own.shares.back();
  }
  for (double& share : own.shares) share /= sum;
  return own;
}

Tensor resize_image(const TensorView& picture, ImageSize size, ResizeFilter filter) {
  constexpr const char* kName = "resize_image";
  if (picture.dtype() != DType::u8 || picture.rank() != 3 || picture.size() == 0) {
    refuse_image(kName, "u8 [H, W, C] with a pixel", picture);
  }
  const auto refuse_size = [&](const std::string& expected) {
    throw InvalidArgument(kName, "size", expected, std::to_string(size.height) + " by " + std::to_string(size.width));
  };
  if (size.height < 1 || size.width < 1) refuse_size("1 or more");
  if (size.height > kMostPixels / size.width || picture.dim(0) > kMostPixels / size.width) {
    refuse_size(std::to_string(kMostPixels) + " pixels or fewer, also when one side is resized");
  }
  const Tensor dense(picture);
  const auto values = dense.values<std::uint8_t>();
  const std::int64_t channels = picture.dim(2);
  std::vector<std::uint8_t> pixels(values.begin(), values.end());
  pixels = resized_along(pixels, picture.dim(1), size.width, channels, filter);
  pixels = resized_along(pixels, picture.dim(0), size.height, size.width * channels, filter);
  Tensor out(DType::u8, {size.height, size.width, channels});
  std::ranges::copy(pixels, out.values<std::uint8_t>().begin());
  return out;
}

Tensor prepare_image(const TensorView& picture, const ImagePreparation& preparation) {
  constexpr const char* kName = "prepare_image";
  if (picture.dtype() != DType::u8 || picture.rank() != 3 || picture.dim(2) != 3 || picture.size() == 0) {
    refuse_image(kName, "u8 [H, W, 3] with a pixel", picture);
  }
  const Tensor resized = resized_for(picture, preparation);
  const ImageSize whole{.height = resized.dim(0), .width = resized.dim(1)};
  const ImageSize crop = preparation.crop.value_or(whole);
  if (crop.height > whole.height || crop.width > whole.width) {
    refuse_image(kName, std::to_string(crop.height) + " by " + std::to_string(crop.width) + " pixels or more to crop",
                 resized);
  }
  const std::int64_t top = (whole.height - crop.height) / 2;
  const std::int64_t left = (whole.width - crop.width) / 2;
  const auto pixels = resized.values<std::uint8_t>();
  Tensor out(DType::f32, {1, 3, crop.height, crop.width});
  auto to = out.values<float>().begin();
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::int64_t y = top; y < top + crop.height; ++y) {
      for (std::int64_t x = left; x < left + crop.width; ++x) {
        const double value = pixels[static_cast<std::size_t>((y * whole.width + x) * 3) + c] * preparation.factor;
        *to++ = static_cast<float>((value - preparation.mean[c]) / preparation.deviation[c]);
      }
    }
  }
  return out;
}

}  // namespace qkv
