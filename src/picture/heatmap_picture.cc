#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "picture/document.h"
#include "picture/heatmap_layout.h"
#include "qkv/picture/heatmap.h"

namespace qkv {
namespace {

using namespace picture;

constexpr std::int64_t kMostRectangles = 4096;  // beyond them the cells are one image
constexpr Rgb kHatchPaper{0xee, 0xee, 0xef};
constexpr Rgb kHatchLine{0xb4, 0xb6, 0xbb};
constexpr double kHatchSpacing = 4;
constexpr Rgb kCross{0xb0, 0x20, 0x3a};
constexpr Rgb kPaper{0xff, 0xff, 0xff};
constexpr double kLeastGap = 12;  // cells of this size and more have a rule of paper between them
constexpr double kQuarterTurn = std::numbers::pi / 2;

void rule(cairo_t* cr, double x0, double y0, double x1, double y1) {
  cairo_move_to(cr, x0, y0);
  cairo_line_to(cr, x1, y1);
}

void outline(cairo_t* cr, double x, double y, double width, double height) {
  set_colour(cr, kRule);
  cairo_set_line_width(cr, 0.75);
  cairo_rectangle(cr, x, y, width, height);
  cairo_stroke(cr);
}

/// Hatches the current clip region within a rectangle.
void hatch(cairo_t* cr, double x, double y, double width, double height) {
  set_colour(cr, kHatchPaper);
  cairo_rectangle(cr, x, y, width, height);
  cairo_fill(cr);
  set_colour(cr, kHatchLine);
  cairo_set_line_width(cr, 0.7);
  for (double at = kHatchSpacing / 2; at < width + height; at += kHatchSpacing)
    rule(cr, x + at, y, x + at - height, y + height);
  cairo_stroke(cr);
}

void cross(cairo_t* cr, double x, double y, double width, double height) {
  rule(cr, x, y, x + width, y + height);
  rule(cr, x + width, y, x, y + height);
  set_colour(cr, kCross);
  cairo_set_line_width(cr, 1);
  cairo_stroke(cr);
}

void paint_numbers(cairo_t* cr, const HeatmapBox& box) {
  const Font font{box.number_size};
  for (std::int64_t row = 0; row < box.grid.rows; ++row) {
    for (std::int64_t column = 0; column < box.grid.columns; ++column) {
      if (box.grid.cell(row, column) != Cell::number) continue;
      const double x = box.left + (static_cast<double>(column) + 0.5) * box.cell.width;
      const double y = box.top + (static_cast<double>(row) + 0.5) * box.cell.height + half_height(font);
      const Rgb colour = text_colour_on(box.grid.scale.colour(box.grid.value(row, column)));
      draw_text(cr, box.grid.number(row, column), x, y, font, colour, Anchor::middle);
    }
  }
}

/// Calls visit(row, first column, end column, colour or what stands for it) for each run of alike cells.
template <class Visit>
void each_run(const Grid& grid, Cell kind, Visit visit) {
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t begin = 0, end = 0; begin < grid.columns; begin = end) {
      const Rgb colour = grid.scale.colour(grid.value(row, begin));
      end = begin + 1;
      if (grid.cell(row, begin) != kind) continue;
      while (end < grid.columns && grid.cell(row, end) == kind &&
             (kind != Cell::number || grid.scale.colour(grid.value(row, end)) == colour))
        ++end;
      visit(row, begin, end, colour);
    }
  }
}

void paint_hidden_runs(cairo_t* cr, const HeatmapBox& box) {
  if (!box.grid.has_hidden) return;
  cairo_save(cr);
  each_run(box.grid, Cell::hidden, [&](std::int64_t row, std::int64_t begin, std::int64_t end, Rgb) {
    cairo_rectangle(cr, box.left + static_cast<double>(begin) * box.cell.width,
                    box.top + static_cast<double>(row) * box.cell.height,
                    static_cast<double>(end - begin) * box.cell.width, box.cell.height);
  });
  cairo_clip(cr);
  hatch(cr, box.left, box.top, box.matrix_width, box.matrix_height);
  cairo_restore(cr);
}

void paint_rectangles(cairo_t* cr, const HeatmapBox& box) {
  const double right = box.left + box.matrix_width;
  const double bottom = box.top + box.matrix_height;
  constexpr double kOverlap = 0.4;  // hides the seams that antialiasing leaves between neighbours
  each_run(box.grid, Cell::number, [&](std::int64_t row, std::int64_t begin, std::int64_t end, Rgb colour) {
    const double x = box.left + static_cast<double>(begin) * box.cell.width;
    const double y = box.top + static_cast<double>(row) * box.cell.height;
    set_colour(cr, colour);
    cairo_rectangle(cr, x, y, std::min(right - x, static_cast<double>(end - begin) * box.cell.width + kOverlap),
                    std::min(bottom - y, box.cell.height + kOverlap));
    cairo_fill(cr);
  });
  paint_hidden_runs(cr, box);
  each_run(box.grid, Cell::not_a_number, [&](std::int64_t row, std::int64_t begin, std::int64_t end, Rgb) {
    for (std::int64_t column = begin; column < end; ++column) {
      const double x = box.left + static_cast<double>(column) * box.cell.width;
      const double y = box.top + static_cast<double>(row) * box.cell.height;
      set_colour(cr, kPaper);
      cairo_rectangle(cr, x, y, box.cell.width, box.cell.height);
      cairo_fill(cr);
      const double inset = std::min(box.cell.width, box.cell.height) * 0.25;
      cross(cr, x + inset, y + inset, box.cell.width - 2 * inset, box.cell.height - 2 * inset);
    }
  });
}

struct Rectangle {
  double x, y, width, height;
};

/// An image of rows x columns pixels with sharp edges, stretched over `place`.
template <class ColourAt>
void paint_pixels(cairo_t* cr, const Rectangle& place, std::int64_t rows, std::int64_t columns, ColourAt colour_at) {
  const std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> image(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(columns), static_cast<int>(rows)),
      cairo_surface_destroy);
  unsigned char* const bytes = cairo_image_surface_get_data(image.get());
  const int stride = cairo_image_surface_get_stride(image.get());
  for (std::int64_t row = 0; row < rows; ++row) {
    auto* const pixels = reinterpret_cast<std::uint32_t*>(bytes + row * stride);
    for (std::int64_t column = 0; column < columns; ++column) {
      const Rgb colour = colour_at(row, column);
      pixels[column] = static_cast<std::uint32_t>(colour.red << 16 | colour.green << 8 | colour.blue);
    }
  }
  cairo_surface_mark_dirty(image.get());
  cairo_save(cr);
  cairo_translate(cr, place.x, place.y);
  cairo_scale(cr, place.width / static_cast<double>(columns), place.height / static_cast<double>(rows));
  cairo_set_source_surface(cr, image.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
  cairo_paint(cr);
  cairo_restore(cr);
}

/// One pixel a cell. Hidden cells form a hatch of their own here, a diagonal of pixels every few cells.
void paint_image(cairo_t* cr, const HeatmapBox& box) {
  const Grid& grid = box.grid;
  const auto period = std::max<std::int64_t>(3, std::lround(2 * kHatchSpacing / (box.cell.width + box.cell.height)));
  const auto colour_of_cell = [&](std::int64_t row, std::int64_t column) {
    if (grid.cell(row, column) == Cell::not_a_number) return kCross;
    if (grid.cell(row, column) == Cell::number) return grid.scale.colour(grid.value(row, column));
    return (row + column) % period == 0 ? kHatchLine : kHatchPaper;
  };
  paint_pixels(cr, {box.left, box.top, box.matrix_width, box.matrix_height}, grid.rows, grid.columns, colour_of_cell);
}

void paint_gaps(cairo_t* cr, const HeatmapBox& box) {
  if (std::min(box.cell.width, box.cell.height) < kLeastGap) return;
  for (std::int64_t column = 1; column < box.grid.columns; ++column) {
    const double x = box.left + static_cast<double>(column) * box.cell.width;
    rule(cr, x, box.top, x, box.top + box.matrix_height);
  }
  for (std::int64_t row = 1; row < box.grid.rows; ++row) {
    const double y = box.top + static_cast<double>(row) * box.cell.height;
    rule(cr, box.left, y, box.left + box.matrix_width, y);
  }
  set_colour(cr, kPaper);
  cairo_set_line_width(cr, 1);
  cairo_stroke(cr);
}

void paint_row_labels(cairo_t* cr, const HeatmapBox& box) {
  const Labels& labels = box.row_labels;
  for (std::size_t row = 0; row < labels.texts.size(); ++row) {
    if (labels.texts[row].empty()) continue;
    const double y = box.top + (static_cast<double>(row) + 0.5) * box.cell.height;
    const double right = box.left - kMatrixGap - (labels.ticks ? kTickLength : 0);
    draw_text(cr, labels.texts[row], right, y + half_height(labels.font), labels.font, kInk, Anchor::end);
    if (labels.ticks) rule(cr, box.left - kTickLength, y, box.left, y);
  }
}

void paint_column_label(cairo_t* cr, const HeatmapBox& box, const std::string& text, double x) {
  const Labels& labels = box.column_labels;
  const double bottom = box.top - kMatrixGap - (labels.ticks ? kTickLength : 0);
  const double half = half_height(labels.font);
  switch (labels.slant) {
    case Slant::level:
      draw_text(cr, text, x, bottom, labels.font, kInk, Anchor::middle);
      break;
    case Slant::diagonal:
      draw_text(cr, text, x - 0.1 * labels.font.size, bottom, labels.font, kInk, Anchor::start, -kQuarterTurn / 2);
      break;
    case Slant::upright:
      draw_text(cr, text, x + half, bottom, labels.font, kInk, Anchor::start, -kQuarterTurn);
      break;
  }
}

void paint_labels(cairo_t* cr, const HeatmapBox& box) {
  paint_row_labels(cr, box);
  for (std::size_t column = 0; column < box.column_labels.texts.size(); ++column) {
    const std::string& text = box.column_labels.texts[column];
    if (text.empty()) continue;
    const double x = box.left + (static_cast<double>(column) + 0.5) * box.cell.width;
    paint_column_label(cr, box, text, x);
    if (box.column_labels.ticks) rule(cr, x, box.top - kTickLength, x, box.top);
  }
  set_colour(cr, kRule);
  cairo_set_line_width(cr, 0.75);
  cairo_stroke(cr);
}

void paint_frame_texts(cairo_t* cr, const HeatmapBox& box) {
  double baseline = kTitle.size;
  for (const std::string& line : box.title) {
    draw_text(cr, line, 0, baseline, kTitle, kInk);
    baseline += kLineHeight * kTitle.size;
  }
  const double middle = box.top + box.matrix_height / 2;
  draw_text(cr, box.grid.row_axis, kLabel.size, middle, kLabel, kSoftInk, Anchor::middle, -kQuarterTurn);
  draw_text(cr, box.grid.column_axis, box.left, box.top - box.column_labels.extent - 5, kLabel, kSoftInk);
  draw_text(cr, box.note, box.left, box.top + box.matrix_height + kSmall.size + 5, kSmall, kSoftInk);
}

void paint_matrix(cairo_t* cr, const HeatmapBox& box) {
  if (box.grid.rows == 0 || box.grid.columns == 0) {
    draw_text(cr, "no cells", box.left + box.matrix_width / 2, box.top + box.matrix_height / 2 + half_height(kSmall),
              kSmall, kSoftInk, Anchor::middle);
  } else if (box.grid.rows * box.grid.columns > kMostRectangles) {
    paint_image(cr, box);
  } else {
    paint_rectangles(cr, box);
    paint_gaps(cr, box);
    if (box.number_size > 0) paint_numbers(cr, box);
  }
  outline(cr, box.left, box.top, box.matrix_width, box.matrix_height);
}

void paint_marks(cairo_t* cr, const Bar& bar, double y) {
  constexpr double kSide = 11;
  const auto entry = [&](std::string_view text) {
    outline(cr, 0, y, kSide, kSide);
    draw_text(cr, std::string(text), kSide + 7, y + kSide / 2 + half_height(kSmall), kSmall, kSoftInk);
    y += 20;
  };
  if (bar.has_hidden) {
    cairo_save(cr);
    cairo_rectangle(cr, 0, y, kSide, kSide);
    cairo_clip(cr);
    hatch(cr, 0, y, kSide, kSide);
    cairo_restore(cr);
    entry("hidden");
  }
  if (bar.has_not_a_number) {
    cross(cr, 3, y + 3, kSide - 6, kSide - 6);
    entry("NaN");
  }
}

void paint_bar(cairo_t* cr, const Bar& bar) {
  constexpr double kWidth = 11;
  double top = 0;
  if (!bar.scale.value_name.empty()) {
    draw_text(cr, bar.scale.value_name, 0, kLabel.size - 1, kLabel, kSoftInk);
    top = 18;
  }
  const auto colour_from_top = [&](std::int64_t row, std::int64_t) {
    return colour_at(bar.scale.colours, kColourCount - 1 - static_cast<int>(row));
  };
  paint_pixels(cr, {0, top, kWidth, bar.length}, kColourCount, 1, colour_from_top);
  outline(cr, 0, top, kWidth, bar.length);
  for (std::size_t i = 0; i < bar.ticks.size(); ++i) {
    const double y = top + bar.length * (1 - bar.scale.fraction(bar.ticks[i]));
    rule(cr, kWidth, y, kWidth + 3, y);
    draw_text(cr, bar.labels[i], kWidth + 7, y + half_height(kSmall), kSmall, kSoftInk);
  }
  set_colour(cr, kRule);
  cairo_set_line_width(cr, 0.75);
  cairo_stroke(cr);
  paint_marks(cr, bar, top + bar.length + 14);
}

void paint_panel(cairo_t* cr, const PanelLayout& layout) {
  double baseline = kMargin + kPageTitle.size;
  for (const std::string& line : layout.title) {
    draw_text(cr, line, kMargin, baseline, kPageTitle, kInk);
    baseline += kLineHeight * kPageTitle.size;
  }
  for (std::size_t i = 0; i < layout.boxes.size(); ++i) {
    const HeatmapBox& box = layout.boxes[i];
    cairo_save(cr);
    cairo_translate(cr, box.x, box.y);
    paint_frame_texts(cr, box);
    paint_labels(cr, box);
    paint_matrix(cr, box);
    if (box.own_bar) {
      cairo_translate(cr, box.bar_left, box.top);
      paint_bar(cr, layout.bars[i]);
    }
    cairo_restore(cr);
  }
  if (layout.boxes.front().own_bar) return;
  cairo_save(cr);
  cairo_translate(cr, layout.bar_x, layout.bar_y);
  paint_bar(cr, layout.bars.front());
  cairo_restore(cr);
}

std::string describe(const Grid& grid) {
  const auto named = [](const std::string& axis) { return axis.empty() ? axis : fmt::format(" ({})", axis); };
  const auto count = [&](Cell kind) { return std::count(grid.cells.begin(), grid.cells.end(), kind); };
  std::string text =
      fmt::format("{}: {} rows{} by {} columns{}, {} from {} to {}", grid.title.empty() ? "Heatmap" : grid.title,
                  grid.rows, named(grid.row_axis), grid.columns, named(grid.column_axis),
                  grid.scale.value_name.empty() ? "value" : grid.scale.value_name, grid.scale.style(grid.scale.low),
                  grid.scale.style(grid.scale.high));
  if (grid.has_hidden) text += fmt::format(", {} cells hidden", count(Cell::hidden));
  if (grid.has_not_a_number) text += fmt::format(", {} cells NaN", count(Cell::not_a_number));
  return text + ".";
}

Document document_of(std::string_view function, const Panel& panel) {
  const std::vector<Grid> grids = read_panel(function, panel);
  Document document;
  document.title = one_line(panel.title);
  if (document.title.empty()) document.title = grids.front().title.empty() ? "Heatmap" : grids.front().title;
  for (const Grid& grid : grids) {
    if (!document.description.empty()) document.description += ' ';
    document.description += describe(grid);
  }
  const auto layout = std::make_shared<const PanelLayout>(lay_out(one_line(panel.title), grids));
  document.width = layout->width;
  document.height = layout->height;
  document.paint = [layout](cairo_t* cr) { paint_panel(cr, *layout); };
  return document;
}

}  // namespace

std::string to_svg(const Panel& panel) { return svg_of(document_of("to_svg", panel)); }

std::string to_png(const Panel& panel, double pixels_per_point) {
  return png_of(document_of("to_png", panel), pixels_per_point, "to_png");
}

std::string to_pdf(const Panel& panel) { return pdf_of(document_of("to_pdf", panel)); }

}  // namespace qkv
