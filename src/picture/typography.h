// Text on a cairo context, in points.
#pragma once

#include <cairo.h>

#include <memory>
#include <string>
#include <vector>

#include "qkv/picture/colour.h"

namespace qkv::picture {

struct Font {
  double size = 9;
  bool bold = false;
};

inline constexpr Font kPageTitle{.size = 15, .bold = true};
inline constexpr Font kTitle{.size = 11.5, .bold = true};
inline constexpr Font kLabel{.size = 9};
inline constexpr Font kSmall{.size = 8};

inline constexpr Rgb kInk{.red = 0x1a, .green = 0x1c, .blue = 0x22};
inline constexpr Rgb kSoftInk{.red = 0x5b, .green = 0x60, .blue = 0x6b};  // axis names, ticks and notes: 6:1 on white
inline constexpr Rgb kRule{.red = 0xc4, .green = 0xc8, .blue = 0xd0};

/// Measures text as every surface will draw it: without hinting, so that a layout holds for SVG, PNG and PDF alike.
class Ruler {
 public:
  Ruler();
  [[nodiscard]] double width(const std::string& text, const Font& font) const;
  /// `text`, or as much of it as fits `width` with an ellipsis.
  [[nodiscard]] std::string fitted(const std::string& text, const Font& font, double width) const;
  /// Broken at spaces into at most three lines; what is still too long is cut.
  [[nodiscard]] std::vector<std::string> wrapped(const std::string& text, const Font& font, double width) const;

 private:
  struct Free {
    void operator()(cairo_t* context) const { cairo_destroy(context); }
  };
  std::unique_ptr<cairo_t, Free> context_;
};

enum class Anchor : unsigned char { start, middle, end };

void set_colour(cairo_t* cr, Rgb colour);
/// A straight line in the path, which the caller strokes.
void rule(cairo_t* cr, double x0, double y0, double x1, double y1);

/// With its baseline at y, anchored at x, turned by `angle` (radians, clockwise) about that point.
void draw_text(cairo_t* cr, const std::string& text, double x, double y, const Font& font, Rgb colour,
               Anchor anchor = Anchor::start, double angle = 0);

/// From the baseline down to where text looks centred on a line.
[[nodiscard]] inline double half_height(const Font& font) { return 0.36 * font.size; }

}  // namespace qkv::picture
