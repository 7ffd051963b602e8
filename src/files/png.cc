#include "qkv/png.h"

#include <png.h>

#include <string>

#include "files/fail.h"

namespace qkv {
namespace {

constexpr std::int64_t kMostPixels = std::int64_t{1} << 26U;
constexpr std::uint8_t kWhite = 255;
constexpr std::int64_t kPngChannels = 3;

// libpng's simplified interface: no jumps across frames, and the reason of a failure as text.
class PngImage {
 public:
  PngImage() { image_.version = PNG_IMAGE_VERSION; }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  ~PngImage() { png_image_free(&image_); }

  [[nodiscard]] png_image& get() noexcept { return image_; }

 private:
  png_image image_{};
};

}  // namespace

Tensor decode_png(std::span<const std::byte> bytes, std::string_view source) {
  PngImage holder;
  png_image& image = holder.get();
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) {
    files::fail(source, std::string("expected a PNG file: ") + image.message);
  }
  const auto width = static_cast<std::int64_t>(image.width);
  const auto height = static_cast<std::int64_t>(image.height);
  if (width * height > kMostPixels) {
    files::fail(source, "expected at most " + std::to_string(kMostPixels) + " pixels, got " + std::to_string(width) +
                            " x " + std::to_string(height));
  }
  image.format = PNG_FORMAT_RGB;
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  Tensor picture(DType::u8, {height, width, kPngChannels});
  const png_color white{kWhite, kWhite, kWhite};
  if (png_image_finish_read(&image, &white, picture.data(), 0, nullptr) == 0) {
    files::fail(source, std::string("damaged or truncated PNG: ") + image.message);
  }
  return picture;
}

std::vector<std::byte> encode_png(const TensorView& picture) {
  if (picture.dtype() != DType::u8 || picture.rank() != 3 || picture.dim(2) != kPngChannels || picture.size() == 0) {
    throw InvalidArgument("encode_png", "picture", "u8 [H, W, 3] with pixels",
                          std::string(name_of(picture.dtype())) + " " + picture.shape().to_string());
  }
  const Tensor dense(picture);
  PngImage holder;
  png_image& image = holder.get();
  image.width = static_cast<png_uint_32>(picture.dim(1));
  image.height = static_cast<png_uint_32>(picture.dim(0));
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::byte> bytes(size);
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, dense.data(), 0, nullptr) == 0) {
    files::fail("encode_png", image.message);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace qkv
