// A drawing of arrows, shapes, boxes and words: what is neither a matrix nor a chart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace qkv {

/// What a mark is about: queries, keys and values have a colour each throughout, as text and as lines.
enum class Ink : std::uint8_t { plain, soft, query, key, value, accent };

/// In points from the upper left corner, y downwards.
struct Spot {
  double x = 0;
  double y = 0;
};

struct Stroke {
  enum class Kind : std::uint8_t { line, dashes, arrow, area };  // an area is closed, and faintly filled

  std::vector<Spot> through;  // at least two
  Ink ink = Ink::plain;
  Kind kind = Kind::line;
};

/// A rectangle with words in its middle; a filled one has its ink as ground, faintly.
struct Box {
  enum class Fill : std::uint8_t { none, faint, strong };

  Spot corner;  // the upper left one
  double width = 0;
  double height = 0;
  std::string text = {};
  Ink ink = Ink::plain;
  Fill fill = Fill::none;
};

struct Caption {
  enum class Align : std::uint8_t { left, middle, right };

  Spot at;  // on the baseline
  std::string text;
  Ink ink = Ink::plain;
  Align align = Align::left;
};

/// Strokes are drawn first, then boxes, then captions, each in their order.
struct Diagram {
  std::string title;
  std::string text;  // what there is to see, for who does not see it: a terminal prints it
  double width = 0;  // points
  double height = 0;
  std::vector<Stroke> strokes = {};
  std::vector<Box> boxes = {};
  std::vector<Caption> captions = {};
};

// Both throw InvalidArgument for a width or height that is not positive, a stroke through fewer than two spots, and a
// place that is not finite. The same diagram always gives the same bytes.

[[nodiscard]] std::string to_svg(const Diagram& diagram);
[[nodiscard]] std::string to_png(const Diagram& diagram, double pixels_per_point = 2.0);

}  // namespace qkv
