// A matrix as a picture: labels, values, colour bar and title, for the terminal, SVG, PNG and PDF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/tensor.h"

namespace qkv {

enum class ColourMap : std::uint8_t {
  sequential,  // from light to dark, for weights: 0 is the paper's colour
  diverging,   // two hues meeting at a neutral zero, for signed scores
};

/// A matrix to be drawn. Cells that are -inf, NaN or listed in `hidden` are drawn as hidden: hatched, never just dark.
struct Heatmap {
  std::string title;
  Tensor values;                           // [rows, columns], any dtype
  std::vector<std::string> row_labels;     // empty, or one a row
  std::vector<std::string> column_labels;  // empty, or one a column
  std::string row_axis;                    // e.g. "query"
  std::string column_axis;                 // e.g. "key"
  std::string value_name;                  // under the colour bar, e.g. "weight"
  Tensor hidden;                           // empty, or b8 [rows, columns], true where hidden
  ColourMap colours = ColourMap::sequential;
  std::optional<double> low;   // the colour bar's ends; from the values where not given
  std::optional<double> high;  // (diverging: symmetric about 0)
  int decimals = 2;            // of the numbers written into the cells where they fit
};

/// One or more heatmaps side by side, wrapped into rows.
struct Panel {
  std::string title;
  std::vector<Heatmap> heatmaps;
};

enum class TerminalColour : std::uint8_t { truecolour, palette256, ascii };

struct TerminalOptions {
  TerminalColour colour = TerminalColour::ascii;
  int width = 80;  // columns of the terminal
};

/// Text with escape sequences as `options.colour` allows; lines end in '\n'.
[[nodiscard]] std::string to_terminal(const Panel& panel, const TerminalOptions& options);

/// Documents as bytes. Throw InvalidArgument for values that are not rank 2 or labels of the wrong number.
[[nodiscard]] std::string to_svg(const Panel& panel);
[[nodiscard]] std::string to_png(const Panel& panel, double pixels_per_point = 2.0);
[[nodiscard]] std::string to_pdf(const Panel& panel);

}  // namespace qkv
