#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "picture/document.h"
#include "picture/typography.h"
#include "qkv/error.h"
#include "qkv/picture/diagram.h"

namespace qkv {
namespace {

using namespace picture;

constexpr double kTitleRoom = 22;
constexpr double kHead = 7;  // of an arrow, in points

Rgb colour_of(Ink ink) {
  switch (ink) {
    case Ink::plain:
      return kInk;
    case Ink::soft:
      return kSoftInk;
    case Ink::query:
      return {.red = 0x6f, .green = 0x42, .blue = 0xc1};
    case Ink::key:
      return {.red = 0x9a, .green = 0x62, .blue = 0x00};
    case Ink::value:
      return {.red = 0x00, .green = 0x7a, .blue = 0x63};
    case Ink::accent:
      return {.red = 0x1f, .green = 0x5f, .blue = 0xa8};
  }
  __builtin_unreachable();
}

void set_faint(cairo_t* cr, Ink ink, double share) {
  const Rgb colour = colour_of(ink);
  cairo_set_source_rgba(cr, colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0, share);
}

void paint_head(cairo_t* cr, const Spot& from, const Spot& to) {
  const double angle = std::atan2(to.y - from.y, to.x - from.x);
  cairo_move_to(cr, to.x, to.y);
  for (const double side : {-0.4, 0.4}) {
    cairo_line_to(cr, to.x - kHead * std::cos(angle + side), to.y - kHead * std::sin(angle + side));
  }
  cairo_close_path(cr);
  cairo_fill(cr);
}

void paint(cairo_t* cr, const Stroke& stroke) {
  cairo_move_to(cr, stroke.through.front().x, stroke.through.front().y);
  for (const Spot& spot : stroke.through) cairo_line_to(cr, spot.x, spot.y);
  if (stroke.kind == Stroke::Kind::area) {
    cairo_close_path(cr);
    set_faint(cr, stroke.ink, 0.12);
    cairo_fill_preserve(cr);
  }
  set_colour(cr, colour_of(stroke.ink));
  constexpr std::array kDashes = {3.0, 3.0};
  const bool is_dashed = stroke.kind == Stroke::Kind::dashes;
  cairo_set_dash(cr, kDashes.data(), is_dashed ? 2 : 0, 0);
  cairo_set_line_width(cr, stroke.kind == Stroke::Kind::arrow ? 1.6 : 1);
  cairo_stroke(cr);
  const std::size_t last = stroke.through.size() - 1;
  if (stroke.kind == Stroke::Kind::arrow) paint_head(cr, stroke.through[last - 1], stroke.through[last]);
}

void paint(cairo_t* cr, const Box& box) {
  cairo_rectangle(cr, box.corner.x, box.corner.y, box.width, box.height);
  set_faint(cr, box.ink, box.fill == Box::Fill::none ? 0 : box.fill == Box::Fill::faint ? 0.12 : 0.35);
  cairo_fill_preserve(cr);
  set_colour(cr, box.fill == Box::Fill::none ? kRule : colour_of(box.ink));
  cairo_set_line_width(cr, 0.8);
  cairo_stroke(cr);
  draw_text(cr, box.text, box.corner.x + box.width / 2, box.corner.y + box.height / 2 + half_height(kLabel), kLabel,
            kInk, Anchor::middle);
}

void paint(cairo_t* cr, const Caption& caption) {
  constexpr std::array kAnchors = {Anchor::start, Anchor::middle, Anchor::end};
  draw_text(cr, caption.text, caption.at.x, caption.at.y, kLabel, colour_of(caption.ink),
            kAnchors.at(static_cast<std::size_t>(caption.align)));
}

void paint(cairo_t* cr, const Diagram& diagram) {
  draw_text(cr, diagram.title, 0, kTitle.size, kTitle, kInk);
  cairo_translate(cr, 0, kTitleRoom);
  for (const Stroke& stroke : diagram.strokes) paint(cr, stroke);
  for (const Box& box : diagram.boxes) paint(cr, box);
  for (const Caption& caption : diagram.captions) paint(cr, caption);
}

void check(std::string_view function, const Diagram& diagram) {
  for (const auto& [name, extent] : {std::pair{"width", diagram.width}, std::pair{"height", diagram.height}}) {
    if (!(extent > 0) || !std::isfinite(extent)) {
      throw InvalidArgument(function, name, "a positive number of points", fmt::format("{}", extent));
    }
  }
  const auto require_place = [&](const Spot& spot) {
    if (std::isfinite(spot.x) && std::isfinite(spot.y)) return;
    throw InvalidArgument(function, "diagram", "finite places", fmt::format("({}, {})", spot.x, spot.y));
  };
  for (const Stroke& stroke : diagram.strokes) {
    if (stroke.through.size() < 2) {
      throw InvalidArgument(function, "through", "at least two spots", fmt::format("{}", stroke.through.size()));
    }
    std::ranges::for_each(stroke.through, require_place);
  }
  for (const Box& box : diagram.boxes) require_place(box.corner);
  for (const Caption& caption : diagram.captions) require_place(caption.at);
}

Document document_of(std::string_view function, const Diagram& diagram) {
  constexpr double kEdge = 12;
  check(function, diagram);
  Document document;
  document.width = std::max(diagram.width, Ruler().width(diagram.title, kTitle)) + 2 * kEdge;
  document.height = diagram.height + kTitleRoom + 2 * kEdge;
  document.title = diagram.title;
  document.description = diagram.text;
  document.paint = [diagram](cairo_t* cr) {
    cairo_translate(cr, kEdge, kEdge);
    paint(cr, diagram);
  };
  return document;
}

}  // namespace

std::string to_svg(const Diagram& diagram) { return svg_of(document_of("to_svg", diagram)); }

std::string to_png(const Diagram& diagram, double pixels_per_point) {
  return png_of(document_of("to_png", diagram), pixels_per_point, "to_png");
}

}  // namespace qkv
