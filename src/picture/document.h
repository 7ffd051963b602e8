// One drawing, three kinds of file: what a painter draws in points becomes SVG, PNG or PDF.
#pragma once

#include <cairo.h>

#include <functional>
#include <string>
#include <string_view>

namespace qkv::picture {

struct Document {
  double width = 0;  // points
  double height = 0;
  std::string title;        // for readers who do not see the picture
  std::string description;  // one or two sentences
  std::function<void(cairo_t*)> paint;
};

[[nodiscard]] std::string svg_of(const Document& document);
/// `function` is named in errors; see to_png.
[[nodiscard]] std::string png_of(const Document& document, double pixels_per_point, std::string_view function);
[[nodiscard]] std::string pdf_of(const Document& document);

}  // namespace qkv::picture
