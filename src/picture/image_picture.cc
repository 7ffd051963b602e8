#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/counted.h"
#include "picture/document.h"
#include "picture/typography.h"
#include "picture/veiled.h"
#include "qkv/picture/image.h"

namespace qkv {
namespace {

using namespace picture;

constexpr double kImageMargin = 12;
constexpr double kSide = 132;  // of an image, the longer one
constexpr double kGap = 16;
constexpr double kTitleHeight = 16;
constexpr double kOutline = 1.8;
constexpr std::size_t kAcross = 6;
constexpr std::int64_t kFinest = 1024;  // pixels across
constexpr Rgb kMark{.red = 0xff, .green = 0xd4, .blue = 0x3b};

struct Free {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};

void paint_pixels(cairo_t* cr, const Pixels& pixels, double width, double height) {
  const std::unique_ptr<cairo_surface_t, Free> surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(pixels.width), static_cast<int>(pixels.height)));
  cairo_surface_flush(surface.get());
  unsigned char* const data = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  for (std::int64_t row = 0; row < pixels.height; ++row) {
    auto* const line = reinterpret_cast<std::uint32_t*>(data + row * stride);
    for (std::int64_t column = 0; column < pixels.width; ++column) {
      const Rgb colour = pixels.at(row, column);
      line[column] = static_cast<std::uint32_t>(colour.red << 16 | colour.green << 8 | colour.blue);
    }
  }
  cairo_surface_mark_dirty(surface.get());
  cairo_save(cr);
  cairo_scale(cr, width / static_cast<double>(pixels.width), height / static_cast<double>(pixels.height));
  cairo_set_source_surface(cr, surface.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
  cairo_paint(cr);
  cairo_restore(cr);
}

void outline_marks(cairo_t* cr, const TensorView& marked, double width, double height) {
  const double across = width / static_cast<double>(marked.dim(1));
  const double down = height / static_cast<double>(marked.dim(0));
  set_colour(cr, kMark);
  cairo_set_line_width(cr, kOutline);
  for (std::int64_t row = 0; row < marked.dim(0); ++row) {
    for (std::int64_t column = 0; column < marked.dim(1); ++column) {
      if (marked.at({row, column}) == 0) continue;
      cairo_rectangle(cr, static_cast<double>(column) * across, static_cast<double>(row) * down, across, down);
      cairo_stroke(cr);
    }
  }
}

// A page gives an image its title itself.
double title_height(const Gallery& gallery) {
  const bool has_titles = std::ranges::any_of(gallery.images, [](const Image& image) { return !image.title.empty(); });
  return has_titles ? kTitleHeight : 0;
}

struct Extent {
  double width = 0;
  double height = 0;
};

Extent extent_of(const Image& image) {
  const auto width = static_cast<double>(image.pixels.dim(2));
  const auto height = static_cast<double>(image.pixels.dim(1));
  const double scale = kSide / std::max(width, height);
  return {scale * width, scale * height};
}

void paint_image(cairo_t* cr, const Image& image, double title, const Ruler& ruler) {
  const Extent extent = extent_of(image);
  if (!image.title.empty()) {
    draw_text(cr, ruler.fitted(one_line(image.title), kLabel, kSide), 0, kTitleHeight - 5, kLabel, kInk);
  }
  cairo_save(cr);
  cairo_translate(cr, 0, title);
  Pixels pixels = pixels_of(image.pixels, kFinest);
  if (!image.weights.empty()) pixels = veiled(std::move(pixels), image.weights);
  paint_pixels(cr, pixels, extent.width, extent.height);
  if (!image.marked.empty()) outline_marks(cr, image.marked, extent.width, extent.height);
  cairo_restore(cr);
}

std::string description_of(const Gallery& gallery) {
  return fmt::format("{} in their own colours{}.", core::counted(gallery.images.size(), "image"),
                     gallery.images.front().weights.empty() ? "" : ", patches of little weight under a dark veil");
}

Document document_of(std::string_view function, const Gallery& gallery) {
  require_sound(function, gallery);
  const std::size_t across = std::min(kAcross, gallery.images.size());
  const std::size_t down = (gallery.images.size() + across - 1) / across;
  const double top = kImageMargin + (gallery.title.empty() ? 0 : kTitleHeight + 6);
  const double title = title_height(gallery);
  Document document;
  document.width = 2 * kImageMargin + static_cast<double>(across) * (kSide + kGap) - kGap;
  document.height = top + static_cast<double>(down) * (kSide + title + kGap) - kGap + kImageMargin;
  document.title = one_line(gallery.title.empty() ? gallery.images.front().title : gallery.title);
  document.description = description_of(gallery);
  document.paint = [&gallery, across, top, title, width = document.width](cairo_t* cr) {
    const Ruler ruler;
    if (!gallery.title.empty()) {
      draw_text(cr, ruler.fitted(one_line(gallery.title), kTitle, width - 2 * kImageMargin), kImageMargin,
                kImageMargin + 11, kTitle, kInk);
    }
    for (std::size_t n = 0; n < gallery.images.size(); ++n) {
      const std::size_t row = n / across;
      cairo_save(cr);
      cairo_translate(cr, kImageMargin + static_cast<double>(n % across) * (kSide + kGap),
                      top + static_cast<double>(row) * (kSide + title + kGap));
      paint_image(cr, gallery.images[n], title, ruler);
      cairo_restore(cr);
    }
  };
  return document;
}

}  // namespace

std::string to_svg(const Gallery& gallery) { return svg_of(document_of("to_svg", gallery)); }

std::string to_png(const Gallery& gallery, double pixels_per_point) {
  return png_of(document_of("to_png", gallery), pixels_per_point, "to_png");
}

}  // namespace qkv
