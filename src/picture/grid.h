// A heatmap read, checked and ready to be drawn by any of the painters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "picture/numbers.h"
#include "qkv/picture/heatmap.h"

namespace qkv::picture {

enum class Cell : std::uint8_t { number, hidden, not_a_number };

/// The meaning of the colours.
struct Scale {
  ColourMap colours = ColourMap::sequential;
  Ground ground = Ground::light;
  ColourScale spacing = ColourScale::linear;
  double low = 0;
  double high = 1;
  bool beyond_low = false;  // some value lies below `low`
  bool beyond_high = false;
  NumberStyle style;
  std::string value_name;
  bool yes_or_no = false;

  [[nodiscard]] std::string number(double value) const;  // beside the bar; on a logarithmic scale with its own exponent
  /// In a cell: without an exponent, "0" for zero alone, "≈0" for what rounds to it. Where a matrix is too small or too
  /// large for fixed decimals, all its cells are in one power of ten, which meaning() tells.
  [[nodiscard]] std::string cell(double value) const;
  [[nodiscard]] std::string meaning() const;          // "weight", "weight, log", "log", "weight, cells in 1e-7" or ""
  [[nodiscard]] double fraction(double value) const;  // 0 at low, 1 at high, clamped
  [[nodiscard]] Rgb colour(double value) const { return colour_of(colours, fraction(value), ground); }
  [[nodiscard]] bool operator==(const Scale& other) const;

 private:
  [[nodiscard]] int power() const;  // of ten, in which the cells are
};

struct Grid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> values;  // row-major
  std::vector<Cell> cells;
  std::vector<std::string> row_labels;  // each fit for one line; empty, or one a row
  std::vector<std::string> column_labels;
  std::string title, row_axis, column_axis;
  Scale scale;
  bool has_hidden = false;
  bool has_not_a_number = false;
  std::int64_t row_step = 1;  // rows and columns of the heatmap that one cell stands for
  std::int64_t column_step = 1;
  double row_places = 1;  // what one row of the heatmap counts
  double column_places = 1;

  [[nodiscard]] std::size_t index(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * columns + column);
  }
  [[nodiscard]] Cell cell(std::int64_t row, std::int64_t column) const { return cells[index(row, column)]; }
  [[nodiscard]] double value(std::int64_t row, std::int64_t column) const { return values[index(row, column)]; }
  /// The name of the first heatmap row in a row of the grid, if rows have no labels.
  [[nodiscard]] std::int64_t row_number(std::int64_t row) const;
  [[nodiscard]] std::int64_t column_number(std::int64_t column) const;
  [[nodiscard]] std::string number(std::int64_t row, std::int64_t column) const;
};

/// Checks and reads every heatmap of a panel; `function` is named in errors. Allocates 9 bytes a cell.
[[nodiscard]] std::vector<Grid> read_panel(std::string_view function, const Panel& panel);

/// True where one colour bar can stand for all.
[[nodiscard]] bool share_scale(const std::vector<Grid>& grids);

/// A smaller grid: each cell shows the value of largest magnitude among row_step x column_step cells, and is hidden
/// only where all of them are. Labels stay those of the first row and column of each.
[[nodiscard]] Grid coarsened(const Grid& grid, std::int64_t row_step, std::int64_t column_step);

/// "each cell shows the strongest of 4 x 4", or empty where nothing was left out.
[[nodiscard]] std::string coarse_note(const Grid& grid);

}  // namespace qkv::picture
