#include "picture/png_file.h"

#include <fmt/format.h>
#include <png.h>

#include <vector>

#include "qkv/error.h"

namespace qkv::picture {
namespace {

constexpr std::size_t kUsual = std::size_t{1} << 19;  // bytes of a file

// Blue, green, red and a byte without meaning, as cairo holds them, without that byte.
std::vector<unsigned char> packed(const unsigned char* data, int width, int height, int stride) {
  std::vector<unsigned char> bytes(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  unsigned char* next = bytes.data();
  for (int row = 0; row < height; ++row) {
    const unsigned char* pixel = data + static_cast<std::ptrdiff_t>(row) * stride;
    for (int column = 0; column < width; ++column, pixel += 4) {
      *next++ = pixel[0];
      *next++ = pixel[1];
      *next++ = pixel[2];
    }
  }
  return bytes;
}

}  // namespace

std::string png_file(cairo_surface_t* surface) {
  cairo_surface_flush(surface);
  const int width = cairo_image_surface_get_width(surface);
  const int height = cairo_image_surface_get_height(surface);
  const std::vector<unsigned char> pixels =
      packed(cairo_image_surface_get_data(surface), width, height, cairo_image_surface_get_stride(surface));
  png_image image{};  // a write that ends, well or not, leaves nothing to be freed
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_BGR;
  image.flags = PNG_IMAGE_FLAG_FAST;
  // A drawing needs a fraction of what noise would; libpng says what is needed where this is too little.
  std::string bytes(kUsual, '\0');
  for (int attempt = 0; attempt < 2; ++attempt) {
    png_alloc_size_t size = bytes.size();
    const bool is_done = png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr) != 0;
    if (!is_done && size <= bytes.size()) break;
    bytes.resize(size);
    if (is_done) return bytes;
  }
  throw Error(fmt::format("cannot draw a PNG: {}", image.message));
}

}  // namespace qkv::picture
