#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "picture/document.h"
#include "picture/heatmap_cells.h"
#include "picture/heatmap_layout.h"
#include "qkv/picture/heatmap.h"

namespace qkv {
namespace {

using namespace picture;

constexpr double kQuarterTurn = std::numbers::pi / 2;

void outline(cairo_t* cr, double x, double y, double width, double height) {
  set_colour(cr, kRule);
  cairo_set_line_width(cr, 0.75);
  cairo_rectangle(cr, x, y, width, height);
  cairo_stroke(cr);
}

void paint_row_labels(cairo_t* cr, const HeatmapBox& box) {
  const Labels& labels = box.row_labels;
  for (std::size_t row = 0; row < labels.texts.size(); ++row) {
    if (labels.texts[row].empty()) continue;
    const double y = box.top + labels.place(row) * box.cell.height;
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
    const double x = box.left + box.column_labels.place(column) * box.cell.width;
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
  } else {
    paint_cells(cr, box);
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
  if (bar.scale.yes_or_no) {
    paint_pixels(cr, {0, y, kSide, kSide}, 1, 1, [&](auto, auto) { return bar.scale.colour(bar.scale.high); });
    entry(bar.scale.value_name);
  }
  if (bar.has_hidden) {
    cairo_save(cr);
    cairo_rectangle(cr, 0, y, kSide, kSide);
    cairo_clip(cr);
    hatch(cr, {0, y, kSide, kSide});
    cairo_restore(cr);
    entry("hidden");
  }
  if (bar.has_not_a_number) {
    cross(cr, {3, y + 3, kSide - 6, kSide - 6});
    entry("NaN");
  }
}

void paint_bar(cairo_t* cr, const Bar& bar) {
  if (bar.scale.yes_or_no) return paint_marks(cr, bar, 0);
  constexpr double kWidth = 11;
  double top = 0;
  if (!bar.scale.meaning().empty()) {
    draw_text(cr, bar.scale.meaning(), 0, kLabel.size - 1, kLabel, kSoftInk);
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
                  grid.scale.value_name.empty() ? "value" : grid.scale.value_name, grid.scale.number(grid.scale.low),
                  grid.scale.number(grid.scale.high));
  if (grid.scale.spacing == ColourScale::logarithmic) text += " on a logarithmic scale";
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
