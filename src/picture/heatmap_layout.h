// The layout of a panel, in points. All measuring happens here, and all drawing in heatmap_picture.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "picture/grid.h"
#include "picture/typography.h"

namespace qkv::picture {

inline constexpr double kMargin = 18;
inline constexpr double kLineHeight = 1.35;  // of the font's size
inline constexpr double kMatrixGap = 5;      // between labels and matrix
inline constexpr double kTickLength = 3;

enum class Slant : std::uint8_t { level, diagonal, upright };

/// The labels of one side of a matrix.
struct Labels {
  std::vector<std::string> texts;  // cut to fit; one a cell, "" where thinned out
  std::vector<double> places;      // where each stands, in cells from the matrix's corner; empty: at the cell's middle
  Font font = kLabel;
  Slant slant = Slant::level;
  bool ticks = false;   // short rules that show which cell a label means
  double extent = 0;    // away from the matrix
  double overhang = 0;  // past the matrix's right edge

  [[nodiscard]] double place(std::size_t cell) const {
    return places.empty() ? static_cast<double>(cell) + 0.5 : places[cell];
  }
};

struct CellSize {
  double width = 0, height = 0;
};

/// One heatmap; positions are relative to its own corner.
struct HeatmapBox {
  Grid grid;
  CellSize cell;
  std::vector<std::string> title;
  Labels row_labels, column_labels;
  double number_size = 0;    // font size of the numbers in cells; 0: none
  double left = 0, top = 0;  // of the matrix
  double matrix_width = 0, matrix_height = 0;
  std::string note;  // below the matrix
  bool own_bar = false;
  double bar_left = 0;
  double width = 0, height = 0;
  double x = 0, y = 0;  // of the box on the page
};

/// The colour bar and the legend of marks.
struct Bar {
  Scale scale;
  std::vector<double> ticks;
  std::vector<std::string> labels;
  bool has_hidden = false, has_not_a_number = false;
  double length = 0;  // of the colours
  double width = 0, height = 0;
};

struct PanelLayout {
  std::vector<std::string> title;
  std::vector<HeatmapBox> boxes;
  std::vector<Bar> bars;        // one, or one for each box
  double bar_x = 0, bar_y = 0;  // of the one that all share
  double width = 0, height = 0;
};

[[nodiscard]] PanelLayout lay_out(const std::string& title, std::vector<Grid> grids);

}  // namespace qkv::picture
