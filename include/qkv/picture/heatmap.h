// Heatmaps: a matrix with labels, values, colour bar and title, for the terminal, SVG, PNG and PDF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/picture/colour.h"
#include "qkv/picture/terminal.h"
#include "qkv/tensor.h"

namespace qkv {

/// A matrix to draw. Cells that are -inf or true in `hidden` are hatched, never just dark. NaN is crossed out; +inf and
/// values beyond `low` or `high` take the colour of that end, and the colour bar says so.
struct Heatmap {
  std::string title;
  Tensor values;                              // [rows, columns], any dtype
  std::vector<std::string> row_labels;        // empty, or one a row
  std::vector<std::string> column_labels;     // empty, or one a column
  std::string row_axis;                       // e.g. "query"
  std::string column_axis;                    // e.g. "key"
  std::string value_name;                     // under the colour bar, e.g. "weight"
  Tensor hidden;                              // empty, or b8 [rows, columns], true where hidden
  std::optional<std::int64_t> row_places;     // what rows and columns count where each stands for several, e.g. tokens:
  std::optional<std::int64_t> column_places;  // their labels are such numbers then
  ColourMap colours = ColourMap::sequential;
  ColourScale scale = ColourScale::linear;  // logarithmic: sequential colours of numbers >= 0. Its low end, where not
                                            // given, is the least positive number, but high / 1e6 at least
  std::optional<double> low;                // the ends of the colour bar; default: from the values
  std::optional<double> high;               // (diverging: symmetric about 0)
  bool yes_or_no = false;                   // shown cells all mean value_name: a legend rather than a colour bar
  int decimals = 2;                         // of the numbers written into the cells where they fit
};

/// One or more heatmaps side by side, wrapped into rows. Cells have one size throughout, and heatmaps of the same
/// colour map and value name share one scale, so that heads can be compared, unless they give their own `low` or
/// `high`.
struct Panel {
  std::string title;
  std::vector<Heatmap> heatmaps;
};

// All four throw InvalidArgument for a panel without heatmaps, for values or a hidden mask that are not [rows,
// columns], for labels of the wrong number, for fewer places than rows or columns, for a low end that is not below the
// high one, and for a logarithmic scale with diverging colours, an end that is not above 0, or a negative number. The
// same panel always gives the same bytes.

/// Text with escape sequences as `options.colour` allows; lines end in '\n' and take at most options.width columns
/// (at least 20). If it does not fit, rows or columns are left out, and a note below says so.
[[nodiscard]] std::string to_terminal(const Panel& panel, const TerminalOptions& options);

/// True if to_terminal() writes the number of every cell. It does not in a narrow terminal or for a large matrix.
[[nodiscard]] bool shows_numbers(const Panel& panel, const TerminalOptions& options);

/// A document with role="img", <title> and <desc>; its ids are unique to its content, so that several fit one page.
[[nodiscard]] std::string to_svg(const Panel& panel);

/// Throws InvalidArgument also where pixels_per_point is not positive or an edge would pass 32,000 pixels.
[[nodiscard]] std::string to_png(const Panel& panel, double pixels_per_point = 2.0);

/// One page, as large as the picture.
[[nodiscard]] std::string to_pdf(const Panel& panel);

}  // namespace qkv
