// Pictures read back: pixels of a PNG, and whether an SVG is XML at all.
#pragma once

#include <cairo.h>
#include <expat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "qkv/picture/colour.h"

namespace qkv::picture {

class DrawnPixels {
 public:
  explicit DrawnPixels(std::string_view png) : surface_(nullptr, cairo_surface_destroy) {
    surface_.reset(cairo_image_surface_create_from_png_stream(
        [](void* rest, unsigned char* data, unsigned int length) noexcept {
          auto& bytes = *static_cast<std::string_view*>(rest);
          if (bytes.size() < length) return CAIRO_STATUS_READ_ERROR;
          std::memcpy(data, bytes.data(), length);
          bytes.remove_prefix(length);
          return CAIRO_STATUS_SUCCESS;
        },
        &png));
  }

  [[nodiscard]] bool readable() const { return cairo_surface_status(surface_.get()) == CAIRO_STATUS_SUCCESS; }
  [[nodiscard]] int width() const { return cairo_image_surface_get_width(surface_.get()); }
  [[nodiscard]] int height() const { return cairo_image_surface_get_height(surface_.get()); }
  [[nodiscard]] Rgb at(double x, double y) const {
    const unsigned char* const row = cairo_image_surface_get_data(surface_.get()) +
                                     static_cast<std::ptrdiff_t>(y) * cairo_image_surface_get_stride(surface_.get());
    std::uint32_t pixel = 0;
    std::memcpy(&pixel, row + 4 * static_cast<std::ptrdiff_t>(x), sizeof pixel);
    return {static_cast<std::uint8_t>(pixel >> 16), static_cast<std::uint8_t>(pixel >> 8),
            static_cast<std::uint8_t>(pixel)};
  }

  /// True where every pixel of the outermost `margin` is paper: nothing runs off the page.
  [[nodiscard]] bool has_clear_edge(int margin) const {
    for (int y = 0; y < height(); ++y) {
      for (int x = 0; x < width(); ++x) {
        const bool edge = std::min({x, y, width() - 1 - x, height() - 1 - y}) < margin;
        if (edge && at(x, y) != Rgb{255, 255, 255}) return false;
      }
    }
    return true;
  }

 private:
  std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> surface_;
};

[[nodiscard]] inline bool is_xml(const std::string& text) {
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(XML_ParserCreate(nullptr), XML_ParserFree);
  return XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), XML_TRUE) == XML_STATUS_OK;
}

}  // namespace qkv::picture
