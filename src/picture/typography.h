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

inline constexpr Font kPageTitle{15, true};
inline constexpr Font kTitle{11.5, true};
inline constexpr Font kLabel{9};
inline constexpr Font kSmall{8};

inline constexpr Rgb kInk{0x1a, 0x1c, 0x22};
inline constexpr Rgb kSoftInk{0x5b, 0x60, 0x6b};  // axis names, ticks and notes: 6:1 on white
inline constexpr Rgb kRule{0xc4, 0xc8, 0xd0};

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

/// With its baseline at y, anchored at x, turned by `angle` (radians, clockwise) about that point.
void draw_text(cairo_t* cr, const std::string& text, double x, double y, const Font& font, Rgb colour,
               Anchor anchor = Anchor::start, double angle = 0);

/// From the baseline down to where text looks centred on a line.
[[nodiscard]] inline double half_height(const Font& font) { return 0.36 * font.size; }

}  // namespace qkv::picture
