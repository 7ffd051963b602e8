#include "picture/heatmap_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace qkv::picture {
namespace {

constexpr double kLargestCell = 46;
constexpr double kRoomAlone = 640;         // for the matrix, where it is the only one
constexpr double kRoomBeside = 288;        // and where there are several
constexpr std::int64_t kMostCells = 1280;  // of a side: half a point each
constexpr double kLongestRowLabel = 120;
constexpr double kLongestColumnLabel = 96;
constexpr double kLabelGap = kMatrixGap;
constexpr double kTick = kTickLength;
constexpr double kGuideSpacing = 24;
constexpr double kBarGap = 16;
constexpr double kBarWidth = 11;
constexpr double kAxisName = 15;  // room for an axis name
constexpr double kBetween = 26;   // heatmaps
constexpr double kWidthToHeight = 1.5;

double line_height(const Font& font) { return kLineHeight * font.size; }

double side_for(std::int64_t cells, double room) {
  if (cells == 0) return kLargestCell;
  const double side = std::min(kLargestCell, room / static_cast<double>(cells));
  // Whole points (half ones for tiny cells) end on whole pixels at the usual two pixels a point.
  return side >= 2 ? std::floor(side) : std::max(0.5, std::floor(2 * side) / 2);
}

CellSize cell_size(const std::vector<Grid>& grids) {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  for (const Grid& grid : grids) {
    rows = std::max(rows, grid.rows);
    columns = std::max(columns, grid.columns);
  }
  const double room = grids.size() == 1 ? kRoomAlone : kRoomBeside;
  const CellSize size{.width = side_for(columns, room), .height = side_for(rows, room)};
  // Square, but for matrices so long and narrow that their short side would be a thread.
  const double least = std::min(size.width, size.height);
  const std::int64_t longest = std::max(rows, columns);
  const double most = least * (longest > 96 ? 4 : longest > 32 ? 2 : 1);
  return {.width = std::min(size.width, most), .height = std::min(size.height, most)};
}

double number_size(const Grid& grid, CellSize cell, const Ruler& ruler) {
  constexpr double kLeast = 6;
  if (std::min(cell.width, cell.height) < 2 * kLeast) return 0;
  double widest = 0;
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      widest = std::max(widest, ruler.width(grid.number(row, column), {.size = 1}));
    }
  }
  if (widest == 0) return 0;
  const double size = std::min({9.5, (cell.width - 4) / widest, 0.42 * cell.height});
  return size >= kLeast ? size : 0;
}

std::vector<std::string> indices(std::int64_t count, std::int64_t step) {
  std::vector<std::string> texts;
  texts.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) texts.push_back(fmt::format("{}", i * step));
  return texts;
}

/// The smallest of 1, 2, 5, 10, … that is `least` or more.
std::int64_t round_step(double least) {
  for (std::int64_t scale = 1;; scale *= 10) {
    for (const std::int64_t factor : {1, 2, 5}) {
      if (static_cast<double>(factor * scale) >= least) return factor * scale;
    }
  }
}

void keep_every(Labels& labels, double cell, double least) {
  const std::int64_t step = round_step(least / cell);
  if (step == 1) return;
  labels.ticks = true;
  for (std::size_t i = 0; i < labels.texts.size(); ++i) {
    if (i % static_cast<std::size_t>(step) != 0) labels.texts[i].clear();
  }
}

/// Round numbers where they lie within the cells that hold them, each of which stands for `places` of what the labels
/// count.
void label_places(Labels& labels, std::int64_t count, double places, double cell, double least) {
  labels.ticks = true;
  labels.texts.assign(static_cast<std::size_t>(count), "");
  labels.places.assign(static_cast<std::size_t>(count), 0);
  const std::int64_t step = round_step(least / cell * places);
  for (std::int64_t place = 0;; place += step) {
    const auto at = static_cast<std::int64_t>(std::floor(static_cast<double>(place) / places + 1e-6));
    if (at >= count) return;
    labels.texts[static_cast<std::size_t>(at)] = fmt::format("{}", place);
    labels.places[static_cast<std::size_t>(at)] = (static_cast<double>(place) + 0.5) / places;
  }
}

double widest(const std::vector<std::string>& texts, const Font& font, const Ruler& ruler) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, ruler.width(text, font));
  return width;
}

void fit_all(Labels& labels, double longest, const Ruler& ruler) {
  for (std::string& text : labels.texts) {
    if (!text.empty()) text = ruler.fitted(text, labels.font, longest);
  }
}

Labels row_labels(const Grid& grid, double cell, const Ruler& ruler) {
  Labels labels;
  if (cell < 11) labels.font = kSmall;
  if (grid.row_labels.empty() && grid.row_places > 1) {
    label_places(labels, grid.rows, grid.row_places * static_cast<double>(grid.row_step), cell, 2 * kGuideSpacing);
  } else {
    labels.texts = grid.row_labels.empty() ? indices(grid.rows, grid.row_step) : grid.row_labels;
    // Shows every word that can be read; of numbers a few are enough.
    const bool guide = grid.row_labels.empty() && cell < 11;
    keep_every(labels, cell, guide ? kGuideSpacing : labels.font.size + 1.5);
  }
  fit_all(labels, kLongestRowLabel, ruler);
  labels.extent = widest(labels.texts, labels.font, ruler) + kLabelGap + (labels.ticks ? kTick : 0);
  return labels;
}

void set_diagonal_extent(Labels& labels, double cell, const Ruler& ruler) {
  const double down = std::numbers::sqrt2 / 2;
  const auto count = static_cast<double>(labels.texts.size());
  for (std::size_t i = 0; i < labels.texts.size(); ++i) {
    const double reach = (ruler.width(labels.texts[i], labels.font) + labels.font.size) * down;
    labels.extent = std::max(labels.extent, reach + kLabelGap);
    labels.overhang = std::max(labels.overhang, reach - (count - static_cast<double>(i) - 0.5) * cell);
  }
}

Labels column_labels(const Grid& grid, double cell, const Ruler& ruler) {
  Labels labels;
  const bool numbered = grid.column_labels.empty();
  const bool placed = numbered && grid.column_places > 1;
  if (cell < 11) labels.font = kSmall;
  if (placed) {
    labels.texts = {fmt::format("{}", grid.column_number(grid.columns))};
  } else {
    labels.texts = numbered ? indices(grid.columns, grid.column_step) : grid.column_labels;
  }
  const double width = widest(labels.texts, labels.font, ruler);
  if (placed) {
    const double places = grid.column_places * static_cast<double>(grid.column_step);
    label_places(labels, grid.columns, places, cell, std::max(width + 12, 2 * kGuideSpacing));
  } else if (numbered) {
    keep_every(labels, cell, width + 5);
  }
  if (numbered || width <= cell - 4) {
    labels.extent = line_height(labels.font) + (labels.ticks ? kTick : 0) + 2;
    return labels;
  }
  fit_all(labels, kLongestColumnLabel, ruler);
  if (cell >= 15) {
    labels.slant = Slant::diagonal;
    set_diagonal_extent(labels, cell, ruler);
    return labels;
  }
  labels.slant = Slant::upright;
  keep_every(labels, cell, labels.font.size + 1.5);
  labels.extent = widest(labels.texts, labels.font, ruler) + kLabelGap + (labels.ticks ? kTick : 0);
  return labels;
}

Bar make_bar(const Scale& scale, bool has_hidden, bool has_not_a_number, double matrix_height, const Ruler& ruler) {
  Bar bar;
  bar.scale = scale;
  bar.has_hidden = has_hidden;
  bar.has_not_a_number = has_not_a_number;
  if (scale.yes_or_no) {
    bar.width = kBarWidth + 7 + std::max(ruler.width(scale.value_name, kSmall), ruler.width("hidden", kSmall));
    bar.height = 20 + (has_hidden ? 20 : 0) + (has_not_a_number ? 20 : 0);
    return bar;
  }
  bar.length = std::clamp(matrix_height - 20, 90.0, 240.0);
  const bool logarithmic = scale.spacing == ColourScale::logarithmic;
  bar.ticks =
      logarithmic ? logarithmic_ticks(scale.low, scale.high, Base::ten, 8) : round_ticks(scale.low, scale.high, 6);
  const auto write_labels = [&] {
    bar.labels = logarithmic ? logarithmic_tick_labels(bar.ticks) : tick_labels(bar.ticks);
  };
  write_labels();
  // Three ends always get a tick: one that values exceed, the low end of a logarithmic scale, which is not 0, and the
  // top, where readers look for the largest value.
  const auto mark_end = [&](bool beyond, double end, bool at_front, std::string_view sign) {
    if (!beyond) return;
    const double least_apart = logarithmic ? 0.08 : 0.16;
    std::erase_if(bar.ticks,
                  [&](double tick) { return std::fabs(scale.fraction(tick) - scale.fraction(end)) < least_apart; });
    bar.ticks.insert(at_front ? bar.ticks.begin() : bar.ticks.end(), end);
    write_labels();
    (at_front ? bar.labels.front() : bar.labels.back()).insert(0, sign);
  };
  mark_end(logarithmic || scale.beyond_low || scale.low < 0, scale.low, true, scale.beyond_low ? "≤ " : "");
  mark_end(true, scale.high, false, scale.beyond_high ? "≥ " : "");
  if (scale.beyond_low) bar.labels.front().insert(0, "≤ ");
  bar.width = kBarWidth + 7 + widest(bar.labels, kSmall, ruler);
  bar.width = std::max(bar.width, ruler.width(scale.meaning(), kLabel));
  if (has_hidden || has_not_a_number) bar.width = std::max(bar.width, kBarWidth + 7 + ruler.width("hidden", kSmall));
  bar.height =
      (scale.meaning().empty() ? 5 : 23) + bar.length + 5 + (has_hidden ? 20 : 0) + (has_not_a_number ? 20 : 0);
  return bar;
}

Grid at_most_drawable(const Grid& grid) {
  const auto step = [](std::int64_t cells) { return std::max<std::int64_t>(1, (cells + kMostCells - 1) / kMostCells); };
  if (step(grid.rows) == 1 && step(grid.columns) == 1) return grid;
  return coarsened(grid, step(grid.rows), step(grid.columns));
}

/// The sizes that the boxes of a panel share, so that their matrices line up.
struct Frame {
  double left = 0;          // from a box's corner to its matrix
  double above_labels = 0;  // title and axis name
  double labels = 0;
};

HeatmapBox make_box(Grid grid, CellSize cell, const Ruler& ruler) {
  HeatmapBox box;
  box.cell = cell;
  box.row_labels = row_labels(grid, cell.height, ruler);
  box.column_labels = column_labels(grid, cell.width, ruler);
  box.number_size = number_size(grid, cell, ruler);
  box.matrix_width = std::max(cell.width * static_cast<double>(grid.columns), grid.columns == 0 ? 90.0 : 0);
  box.matrix_height = std::max(cell.height * static_cast<double>(grid.rows), grid.rows == 0 ? 60.0 : 0);
  box.left = (grid.row_axis.empty() ? 0 : kAxisName) + box.row_labels.extent;
  box.note = coarse_note(grid);
  const double least_width = box.left + std::max(box.matrix_width, 90.0);
  box.title = ruler.wrapped(grid.title, kTitle, least_width);
  box.grid = std::move(grid);
  return box;
}

Frame frame_of(const std::vector<HeatmapBox>& boxes) {
  Frame frame;
  for (const HeatmapBox& box : boxes) {
    double above = static_cast<double>(box.title.size()) * line_height(kTitle) + (box.title.empty() ? 0 : 6);
    if (!box.grid.column_axis.empty()) above += kAxisName;
    frame.left = std::max(frame.left, box.left);
    frame.above_labels = std::max(frame.above_labels, above);
    frame.labels = std::max(frame.labels, box.column_labels.extent);
  }
  return frame;
}

void finish_box(HeatmapBox& box, const Frame& frame, const Bar* own_bar, const Ruler& ruler) {
  box.left = frame.left;
  box.top = frame.above_labels + frame.labels;
  double right = box.left + box.matrix_width + box.column_labels.overhang;
  box.height = box.top + box.matrix_height + (box.note.empty() ? 0 : line_height(kSmall) + 4);
  if (own_bar != nullptr) {
    box.own_bar = true;
    box.bar_left = box.left + box.matrix_width + kBarGap;
    right = std::max(right, box.bar_left + own_bar->width);
    box.height = std::max(box.height, box.top + own_bar->height);
  }
  for (const std::string& line : box.title) right = std::max(right, ruler.width(line, kTitle));
  right =
      std::max(right, box.left + std::max(ruler.width(box.grid.column_axis, kLabel), ruler.width(box.note, kSmall)));
  box.width = right;
}

/// Boxes in a row: as many as make the page about half as wide again as it is high.
std::size_t boxes_in_a_row(std::size_t count, double width, double height) {
  std::size_t best = 1;
  double least = HUGE_VAL;
  for (std::size_t in_row = 1; in_row <= count; ++in_row) {
    const std::size_t rows = (count + in_row - 1) / in_row;
    const double ratio = static_cast<double>(in_row) * width / (static_cast<double>(rows) * height);
    const auto empty = static_cast<double>(rows * in_row - count) / static_cast<double>(rows * in_row);
    const double cost = std::fabs(std::log(ratio / kWidthToHeight)) + 2 * empty;
    if (cost >= least) continue;
    least = cost;
    best = in_row;
  }
  return best;
}

void place(PanelLayout& layout, double top) {
  double width = 0;
  double height = 0;
  for (const HeatmapBox& box : layout.boxes) {
    width = std::max(width, box.width);
    height = std::max(height, box.height);
  }
  const std::size_t in_row = boxes_in_a_row(layout.boxes.size(), width + kBetween, height + kBetween);
  for (std::size_t i = 0; i < layout.boxes.size(); ++i) {
    HeatmapBox& box = layout.boxes[i];
    box.x = kMargin + static_cast<double>(i % in_row) * (width + kBetween);
    const std::size_t row = i / in_row;
    box.y = top + static_cast<double>(row) * (height + kBetween);
    layout.width = std::max(layout.width, box.x + box.width);
    layout.height = std::max(layout.height, box.y + box.height);
  }
  if (layout.boxes.front().own_bar) return;
  const HeatmapBox& last = layout.boxes[std::min(in_row, layout.boxes.size()) - 1];
  layout.bar_x =
      std::max(last.x + last.left + last.matrix_width, in_row < layout.boxes.size() ? layout.width : 0) + kBarGap;
  layout.bar_y = layout.boxes.front().y + layout.boxes.front().top;
  layout.width = std::max(layout.width, layout.bar_x + layout.bars.front().width);
  layout.height = std::max(layout.height, layout.bar_y + layout.bars.front().height);
}

}  // namespace

PanelLayout lay_out(const std::string& title, std::vector<Grid> grids) {
  const Ruler ruler;
  PanelLayout layout;
  bool has_hidden = false;
  bool has_not_a_number = false;
  for (Grid& grid : grids) {
    grid = at_most_drawable(grid);
    has_hidden |= grid.has_hidden;
    has_not_a_number |= grid.has_not_a_number;
  }
  const CellSize cell = cell_size(grids);
  const bool shared = share_scale(grids);
  for (Grid& grid : grids) layout.boxes.push_back(make_box(std::move(grid), cell, ruler));
  // Numbers of one size throughout: mixed sizes would read as emphasis.
  double size = HUGE_VAL;
  for (const HeatmapBox& box : layout.boxes) {
    if (box.number_size > 0) size = std::min(size, box.number_size);
  }
  const Frame frame = frame_of(layout.boxes);
  for (HeatmapBox& box : layout.boxes) {
    box.number_size = std::min(box.number_size, size);
    const bool marks = shared ? has_hidden : box.grid.has_hidden;
    const bool crosses = shared ? has_not_a_number : box.grid.has_not_a_number;
    if (!shared || layout.bars.empty()) {
      layout.bars.push_back(make_bar(box.grid.scale, marks, crosses, box.matrix_height, ruler));
    }
    finish_box(box, frame, shared ? nullptr : &layout.bars.back(), ruler);
  }
  double top = kMargin;
  if (!title.empty()) {
    double room = layout.boxes.front().width;
    if (layout.boxes.size() > 1) room = 2 * room + kBetween;
    layout.title = ruler.wrapped(title, kPageTitle, std::max(room, 320.0));
    top += static_cast<double>(layout.title.size()) * line_height(kPageTitle) + 12;
  }
  place(layout, top);
  for (const std::string& line : layout.title) {
    layout.width = std::max(layout.width, kMargin + ruler.width(line, kPageTitle));
  }
  layout.width = std::ceil(layout.width + kMargin);
  layout.height = std::ceil(layout.height + kMargin);
  return layout;
}

}  // namespace qkv::picture
