#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "picture/ansi.h"
#include "picture/grid.h"
#include "picture/text.h"
#include "qkv/picture/heatmap.h"

namespace qkv {
namespace {

using namespace picture;

constexpr int kLeastMapWidth = 20;
constexpr int kWidestLabel = 16;
constexpr int kTallestLabel = 8;         // lines of a column label written downwards
constexpr std::int64_t kMostRows = 128;  // of cells; taller matrices are thinned
constexpr Rgb kHiddenInk{0x80, 0x80, 0x80};

// From low to high. '.' is left to hidden cells.
constexpr std::string_view kSequentialRamp = " :-=+*#%@";
constexpr std::string_view kDivergingRamp = "%o=- +x*#";

enum class Fill : std::uint8_t {
  numbers,      // each cell a number
  wide,         // each cell two columns of colour: square on most terminals
  narrow,       // one column
  half_blocks,  // one column, two rows to the line
};

struct Layout {
  Grid grid;
  Fill fill = Fill::numbers;
  int label_width = 0;
  int cell_width = 1;
};

struct Style {
  TerminalColour colour;
  bool ascii() const { return colour == TerminalColour::ascii; }
  std::string_view ellipsis() const { return ascii() ? ".." : "…"; }
  std::string_view hidden() const { return ascii() ? "." : "·"; }
  std::string_view hidden_shade() const { return ascii() ? "." : "░"; }
  std::string_view crossed() const { return ascii() ? "?" : "×"; }
};

char ramp_character(const Scale& scale, double value) {
  const std::string_view ramp = scale.colours == ColourMap::sequential ? kSequentialRamp : kDivergingRamp;
  const auto last = static_cast<double>(ramp.size() - 1);
  return ramp[static_cast<std::size_t>(std::lround(scale.fraction(value) * last))];
}

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::string row_label(const Grid& grid, std::int64_t row) {
  return grid.row_labels.empty() ? fmt::format("{}", grid.row_number(row))
                                 : grid.row_labels[static_cast<std::size_t>(row)];
}

int widest(const std::vector<std::string>& texts) {
  int width = 0;
  for (const std::string& text : texts) width = std::max(width, display_width(text));
  return width;
}

// Of all heads, so that their columns are equally wide.
int widest_number(const std::vector<Grid>& grids, std::int64_t most_columns) {
  int width = 1;
  for (const Grid& grid : grids) {
    if (grid.rows > kMostRows || grid.columns > most_columns) continue;
    for (std::int64_t row = 0; row < grid.rows; ++row) {
      for (std::int64_t column = 0; column < grid.columns; ++column) {
        width = std::max(width, display_width(grid.number(row, column)));
      }
    }
  }
  return width;
}

std::string number_of(const Grid& grid, std::int64_t row, std::int64_t column, const Style& style) {
  const std::string text = grid.number(row, column);
  return style.ascii() && text == "≈0" ? "~0" : text;
}

int label_width(const Grid& grid, int width) {
  const int longest = grid.row_labels.empty() ? display_width(row_label(grid, std::max<std::int64_t>(0, grid.rows - 1)))
                                              : widest(grid.row_labels);
  return std::min({longest, kWidestLabel, width / 3});
}

Grid thinned_to(const Grid& grid, std::int64_t columns) {
  const std::int64_t step = (grid.columns + columns - 1) / columns;
  // The same step both ways keeps the shape, unless few rows would be left.
  std::int64_t row_step = grid.rows >= 8 * step ? step : 1;
  row_step *= std::max<std::int64_t>(1, (grid.rows / row_step + kMostRows - 1) / kMostRows);
  return step == 1 && row_step == 1 ? grid : coarsened(grid, row_step, step);
}

/// What the grids of a panel share.
struct Room {
  int width = 0;
  int width_for_numbers = 0;
  int number = 1;  // columns of the widest
};

/// The richest way to show the grid in `room.width` columns; numbers only where they fit `room.width_for_numbers`.
Layout lay_out(const Grid& grid, const Room& room, const Style& style) {
  const auto [width, width_for_numbers, number] = room;
  const int labels = label_width(grid, width);
  const std::int64_t left = width - labels - 1;
  if (grid.columns <= width_for_numbers && grid.rows <= kMostRows) {
    const int cell = std::max(number + (style.ascii() ? 4 : 2), std::min(widest(grid.column_labels) + 1, number + 4));
    if (grid.columns * cell + labels + 1 <= width_for_numbers) return {grid, Fill::numbers, labels, cell};
  }
  Layout layout{thinned_to(grid, left), Fill::narrow, labels, 1};
  const bool labelled = !grid.row_labels.empty() && layout.grid.row_step == 1;
  if (2 * layout.grid.columns <= left) {
    layout.fill = Fill::wide;
    layout.cell_width = 2;
  } else if (!labelled && !style.ascii()) {
    layout.fill = Fill::half_blocks;
  }
  layout.label_width = label_width(layout.grid, width);
  return layout;
}

void add_cell(Line& line, const Layout& layout, std::int64_t row, std::int64_t column, const Style& style) {
  const Grid& grid = layout.grid;
  const Cell cell = grid.cell(row, column);
  const double value = grid.value(row, column);
  const bool number = layout.fill == Fill::numbers;
  if (cell == Cell::hidden) {
    const std::string mark = number ? std::string(style.hidden()) : repeated(style.hidden_shade(), layout.cell_width);
    line.add(padded(mark, layout.cell_width, Side::centre), {kHiddenInk, {}});
  } else if (cell == Cell::not_a_number) {
    const std::string mark = number ? "NaN" : repeated(style.crossed(), layout.cell_width);
    line.add(padded(mark, layout.cell_width, Side::centre), {kAlarm, {}});
  } else if (style.ascii()) {
    const std::string shade(number ? 1 : static_cast<std::size_t>(layout.cell_width),
                            ramp_character(grid.scale, value));
    line.add(number ? padded(number_of(grid, row, column, style) + " " + shade, layout.cell_width, Side::centre)
                    : shade);
  } else {
    const Rgb back = grid.scale.colour(value);
    const std::string text = number ? grid.number(row, column) : "";
    line.add(padded(text, layout.cell_width, Side::centre), {text_colour_on(back), back});
  }
}

/// Two rows as the upper and lower halves of one line.
void add_half_blocks(Line& line, const Grid& grid, std::int64_t row, std::int64_t column) {
  const bool has_lower = row + 1 < grid.rows;
  const Cell upper = grid.cell(row, column);
  const Cell lower = has_lower ? grid.cell(row + 1, column) : upper;
  if (upper == Cell::not_a_number || lower == Cell::not_a_number) {
    line.add("×", {kAlarm, {}});
  } else if (upper == Cell::hidden && lower == Cell::hidden) {
    line.add("░", {kHiddenInk, {}});
  } else if (upper == Cell::hidden || (has_lower && lower == Cell::hidden)) {
    const bool above = upper == Cell::number;
    line.add(above ? "▀" : "▄", {grid.scale.colour(grid.value(above ? row : row + 1, column)), {}});
  } else {
    Paint paint{grid.scale.colour(grid.value(row, column)), {}};
    if (has_lower) paint.back = grid.scale.colour(grid.value(row + 1, column));
    line.add("▀", paint);
  }
}

void add_rows(Block& block, const Layout& layout, const Style& style) {
  const bool halves = layout.fill == Fill::half_blocks;
  for (std::int64_t row = 0; row < layout.grid.rows; row += halves ? 2 : 1) {
    Line line(style.colour);
    const std::string label = fit_to_width(row_label(layout.grid, row), layout.label_width, style.ellipsis());
    line.add(padded(label, layout.label_width, Side::right)).add(" ");
    for (std::int64_t column = 0; column < layout.grid.columns; ++column) {
      if (halves) {
        add_half_blocks(line, layout.grid, row, column);
      } else {
        add_cell(line, layout, row, column, style);
      }
    }
    block.push_back(std::move(line));
  }
}

void add_level_labels(Block& block, const Layout& layout, const Style& style) {
  Line line(style.colour);
  line.pad_to(layout.label_width + 1);
  for (const std::string& label : layout.grid.column_labels) {
    line.add(padded(fit_to_width(label, layout.cell_width - 1, style.ellipsis()), layout.cell_width, Side::centre));
  }
  block.push_back(std::move(line));
}

/// A label as one entry a line, combining marks staying with what they follow.
std::vector<std::string> downwards(const std::string& label, const Style& style) {
  std::vector<std::string> letters;
  for (const char32_t point : decode(label)) {
    const std::string letter = encode({&point, 1});
    if (picture::width_of(point) == 0 && !letters.empty()) {
      letters.back() += letter;
    } else {
      letters.push_back(letter);
    }
  }
  if (letters.size() <= kTallestLabel) return letters;
  letters.resize(kTallestLabel - 1);
  letters.emplace_back(style.ascii() ? ":" : "…");
  return letters;
}

/// False where a character would not fit its column.
bool add_standing_labels(Block& block, const Layout& layout, const Style& style) {
  std::vector<std::vector<std::string>> columns;
  std::size_t height = 0;
  for (const std::string& label : layout.grid.column_labels) {
    columns.push_back(downwards(label, style));
    height = std::max(height, columns.back().size());
    for (const std::string& letter : columns.back()) {
      if (display_width(letter) > layout.cell_width) return false;
    }
  }
  for (std::size_t i = 0; i < height; ++i) {
    Line line(style.colour);
    line.pad_to(layout.label_width + 1);
    for (const auto& letters : columns) {
      const std::size_t above = height - letters.size();
      line.add(padded(i < above ? "" : letters[i - above], layout.cell_width, Side::left));
    }
    block.push_back(std::move(line));
  }
  return true;
}

void add_column_indices(Block& block, const Layout& layout, const Style& style) {
  const int digits = display_width(fmt::format("{}", layout.grid.column_number(layout.grid.columns)));
  std::int64_t step = 1;
  for (const std::int64_t candidate : {1, 2, 5, 10, 20, 50, 100}) {
    step = candidate;
    if (candidate * layout.cell_width > digits) break;
  }
  Line line(style.colour);
  line.pad_to(layout.label_width + 1);
  for (std::int64_t column = 0; column < layout.grid.columns; column += step) {
    const auto cells = static_cast<int>(std::min(step, layout.grid.columns - column)) * layout.cell_width;
    const std::string text = fmt::format("{}", layout.grid.column_number(column));
    const Side side = layout.fill == Fill::numbers ? Side::centre : Side::left;
    line.add(padded(display_width(text) <= cells ? text : "", cells, side), {kQuiet, {}});
  }
  block.push_back(std::move(line));
}

void add_text(Block& block, std::string_view text, const Style& style, int width, const Paint& paint = {}) {
  if (text.empty()) return;
  block.emplace_back(style.colour).add(fit_to_width(text, width, style.ellipsis()), paint);
}

std::string axes_caption(const Grid& grid, const Style& style) {
  std::string caption;
  if (!grid.row_axis.empty()) caption = "rows: " + grid.row_axis;
  if (!grid.column_axis.empty()) {
    caption += fmt::format("{}columns: {}", caption.empty() ? "" : style.ascii() ? ", " : " · ", grid.column_axis);
  }
  return caption;
}

/// What the marks mean, behind the line.
void add_marks(Block& block, Line line, const std::string& meaning, bool has_hidden, bool has_not_a_number,
               const Style& style, int width) {
  const auto add_entry = [&](std::string_view mark, std::string_view text, const Paint& paint) {
    if (line.width() + 3 + display_width(mark) + display_width(text) > width) {
      block.push_back(std::move(line));
      line = Line(style.colour);
    } else {
      line.add("  ");
    }
    line.add(mark, paint).add(mark.empty() ? "" : " ");
    line.add(fit_to_width(text, std::max(0, width - line.width()), style.ellipsis()));
  };
  if (!meaning.empty()) add_entry("", meaning, {});
  if (has_hidden) add_entry(style.ascii() ? "." : "░░", "hidden", {kHiddenInk, {}});
  if (has_not_a_number) add_entry(style.ascii() ? "?" : "××", "NaN", {kAlarm, {}});
  block.push_back(std::move(line));
}

/// What stands in place of a colour bar where shown cells all mean the same.
void add_legend(Block& block, const Scale& scale, bool has_hidden, bool has_not_a_number, const Style& style,
                int width) {
  Line line(style.colour);
  line.add(style.ascii() ? std::string(1, kSequentialRamp.back()) : "  ", {{}, scale.colour(scale.high)});
  line.add(" " + fit_to_width(scale.value_name, width - 3, style.ellipsis()));
  add_marks(block, std::move(line), "", has_hidden, has_not_a_number, style, width);
}

/// Colours from low to high between the numbers of its ends, and what the marks mean.
void add_colour_bar(Block& block, const Scale& scale, bool has_hidden, bool has_not_a_number, const Style& style,
                    int width) {
  if (scale.yes_or_no) return add_legend(block, scale, has_hidden, has_not_a_number, style, width);
  const std::string low = (scale.beyond_low ? style.ascii() ? "<=" : "≤" : "") + scale.number(scale.low);
  const std::string high = (scale.beyond_high ? style.ascii() ? ">=" : "≥" : "") + scale.number(scale.high);
  const int steps = std::clamp(width - display_width(low) - display_width(high) - 2, 3, 24);
  Line line(style.colour);
  line.add(low).add(style.ascii() ? "[" : " ");
  if (style.ascii()) {
    line.add(scale.colours == ColourMap::sequential ? kSequentialRamp : kDivergingRamp);
  } else {
    for (int i = 0; i < steps; ++i) {
      line.add(" ", {{}, colour_of(scale.colours, static_cast<double>(i) / (steps - 1), scale.ground)});
    }
  }
  line.add(style.ascii() ? "]" : " ").add(high);
  add_marks(block, std::move(line), scale.meaning(), has_hidden, has_not_a_number, style, width);
}

Block draw(const Grid& grid, const Style& style, const Room& room) {
  const int width = room.width;
  Block block;
  add_text(block, grid.title, style, width);
  add_text(block, axes_caption(grid, style), style, width, {kQuiet, {}});
  if (grid.rows == 0 || grid.columns == 0) {
    add_text(block, fmt::format("(no cells: {} rows, {} columns)", grid.rows, grid.columns), style, width,
             {kQuiet, {}});
    return block;
  }
  const Layout layout = lay_out(grid, room, style);
  const bool labelled = !layout.grid.column_labels.empty() && layout.grid.column_step == 1;
  if (labelled && layout.fill == Fill::numbers) {
    add_level_labels(block, layout, style);
  } else if (!labelled || !add_standing_labels(block, layout, style)) {
    add_column_indices(block, layout, style);
  }
  add_rows(block, layout, style);
  add_text(block, coarse_note(layout.grid), style, width, {kQuiet, {}});
  return block;
}

/// The width that one of several heatmaps may take to show its numbers.
int width_for_numbers_of(std::size_t heatmaps, int width) {
  return heatmaps > 1 ? std::min(width, std::max(width / 2 - 1, 44)) : width;
}

Room room_for(const std::vector<Grid>& grids, int width) {
  return {width, width_for_numbers_of(grids.size(), width), widest_number(grids, width)};
}

bool has_cells(const Grid& grid) { return grid.rows * grid.columns > 0; }

}  // namespace

bool shows_numbers(const Panel& panel, const TerminalOptions& options) {
  const std::vector<Grid> grids = read_panel("shows_numbers", panel);
  const Style style{options.colour};
  const Room room = room_for(grids, std::max(options.width, kLeastMapWidth));
  return std::all_of(grids.begin(), grids.end(), [&](const Grid& grid) {
    return !has_cells(grid) || lay_out(grid, room, style).fill == Fill::numbers;
  });
}

std::string to_terminal(const Panel& panel, const TerminalOptions& options) {
  std::vector<Grid> grids = read_panel("to_terminal", panel);
  for (Grid& grid : grids) grid.scale.ground = options.ground;
  const Style style{options.colour};
  const int width = std::max(options.width, kLeastMapWidth);
  const Room room = room_for(grids, width);
  const bool shared = share_scale(grids);

  std::vector<Block> blocks;
  bool has_hidden = false;
  bool has_not_a_number = false;
  for (const Grid& grid : grids) {
    blocks.push_back(draw(grid, style, room));
    if (!shared && has_cells(grid)) {
      add_colour_bar(blocks.back(), grid.scale, grid.has_hidden, grid.has_not_a_number, style, width);
    }
    has_hidden |= grid.has_hidden;
    has_not_a_number |= grid.has_not_a_number;
  }

  Block page;
  add_text(page, one_line(panel.title), style, width);
  for (Line& line : beside_one_another(blocks, {options.colour, width})) page.push_back(std::move(line));
  if (shared && std::any_of(grids.begin(), grids.end(), has_cells)) {
    add_colour_bar(page, grids.front().scale, has_hidden, has_not_a_number, style, width);
  }

  std::string text;
  for (const Line& line : page) text += line.trimmed() + "\n";
  return text;
}

}  // namespace qkv
