// What is done to a picture before a model of images reads it: resized, cropped, scaled and normalised.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "qkv/tensor.h"

namespace qkv {

/// How resize_image() weighs the pixels around a place. Where the image shrinks, the filter grows with it.
enum class ResizeFilter : std::uint8_t {
  bilinear,  // a triangle over a pixel on each side
  bicubic,   // Keys' cubic over two, with a = -1/2 (Keys 1981)
};

struct ImageSize {
  std::int64_t height = 0;  // pixels
  std::int64_t width = 0;
};

struct ImagePreparation {
  ResizeFilter filter = ResizeFilter::bicubic;
  std::optional<std::int64_t> shortest_edge = std::nullopt;  // pixels of the shorter side; the other in proportion
  std::optional<ImageSize> size = std::nullopt;              // or of both sides; without either: as it is
  std::optional<ImageSize> crop = std::nullopt;              // of its middle
  double factor = 1.0 / 255;                                 // of each value
  std::array<double, 3> mean = {0, 0, 0};                    // subtracted from red, green and blue
  std::array<double, 3> deviation = {1, 1, 1};               // by which they are divided
};

/// That of preprocessor_config.json in a folder as others publish models, or of processor_config.json if there is none.
/// Throws Error naming the file and the word that is missing or has no meaning.
[[nodiscard]] ImagePreparation read_image_preparation(const std::string& folder);

/// picture u8 [H, W, C] -> u8 [size.height, size.width, C], rounded after each of two passes, first across and then
/// down: the same bytes as Image.resize() of Pillow up to version 12. Allocates both results, of 2^28
/// pixels at most. Throws InvalidArgument naming picture or size.
[[nodiscard]] Tensor resize_image(const TensorView& picture, ImageSize size,
                                  ResizeFilter filter = ResizeFilter::bicubic);

/// picture u8 [H, W, 3], red, green, blue -> f32 [1, 3, h, w], what embed_images() reads. Allocates the results of the
/// steps. Throws InvalidArgument naming picture, also where it is smaller than what is cropped.
[[nodiscard]] Tensor prepare_image(const TensorView& picture, const ImagePreparation& preparation);

}  // namespace qkv
