#include "picture/document.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "picture/png_file.h"
#include "picture/svg.h"
#include "qkv/error.h"

namespace qkv::picture {
namespace {

constexpr double kMostPixels = 32000;  // of an edge: cairo's images end at 32,767

struct Free {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using Surface = std::unique_ptr<cairo_surface_t, Free>;
using Context = std::unique_ptr<cairo_t, Free>;

cairo_status_t append(void* bytes, const unsigned char* data, unsigned int length) noexcept {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

void require(cairo_status_t status, std::string_view what) {
  if (status != CAIRO_STATUS_SUCCESS) {
    throw Error(fmt::format("cannot draw {}: {}", what, cairo_status_to_string(status)));
  }
}

void paint_on(cairo_surface_t* surface, const Document& document, double scale, std::string_view what) {
  const Context context(cairo_create(surface));
  cairo_scale(context.get(), scale, scale);
  cairo_set_source_rgb(context.get(), 1, 1, 1);
  cairo_paint(context.get());
  document.paint(context.get());
  require(cairo_status(context.get()), what);
}

}  // namespace

std::string svg_of(const Document& document) {
  std::string bytes;
  const Surface surface(cairo_svg_surface_create_for_stream(append, &bytes, document.width, document.height));
  paint_on(surface.get(), document, 1, "an SVG");
  cairo_surface_finish(surface.get());
  require(cairo_surface_status(surface.get()), "an SVG");
  return finished_svg(bytes, document.title, document.description);
}

std::string png_of(const Document& document, double pixels_per_point, std::string_view function) {
  if (!(pixels_per_point > 0) || !std::isfinite(pixels_per_point)) {
    throw InvalidArgument(function, "pixels_per_point", "a positive number", fmt::format("{}", pixels_per_point));
  }
  const double width = std::ceil(document.width * pixels_per_point);
  const double height = std::ceil(document.height * pixels_per_point);
  if (width > kMostPixels || height > kMostPixels) {
    throw InvalidArgument(function, "pixels_per_point", fmt::format("edges of at most {} pixels", kMostPixels),
                          fmt::format("{} x {}", width, height));
  }
  const Surface surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height)));
  paint_on(surface.get(), document, pixels_per_point, "a PNG");
  require(cairo_surface_status(surface.get()), "a PNG");
  return png_file(surface.get());
}

std::string pdf_of(const Document& document) {
  std::string bytes;
  const Surface surface(cairo_pdf_surface_create_for_stream(append, &bytes, document.width, document.height));
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, document.title.c_str());
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_SUBJECT, document.description.c_str());
  // A fixed date, so that the same picture gives the same bytes.
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
  paint_on(surface.get(), document, 1, "a PDF");
  cairo_surface_finish(surface.get());
  require(cairo_surface_status(surface.get()), "a PDF");
  return bytes;
}

}  // namespace qkv::picture
