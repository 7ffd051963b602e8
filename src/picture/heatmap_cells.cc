#include "picture/heatmap_cells.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace qkv::picture {
namespace {

constexpr std::int64_t kMostRectangles = 1024;  // beyond them the cells are one image
constexpr std::int64_t kMostMarks = 4096;       // and beyond these, hatches and crosses are its pixels
constexpr Rgb kHatchPaper{.red = 0xee, .green = 0xee, .blue = 0xef};
constexpr Rgb kHatchLine{.red = 0xb4, .green = 0xb6, .blue = 0xbb};
constexpr double kHatchSpacing = 4;
constexpr Rgb kCross{.red = 0xb0, .green = 0x20, .blue = 0x3a};
constexpr Rgb kPaper{.red = 0xff, .green = 0xff, .blue = 0xff};
constexpr double kLeastGap = 12;  // cells of this size and more have a rule of paper between them

void paint_numbers(cairo_t* cr, const HeatmapBox& box) {
  const Font font{.size = box.number_size};
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
             (kind != Cell::number || grid.scale.colour(grid.value(row, end)) == colour)) {
        ++end;
      }
      visit(row, begin, end, colour);
    }
  }
}

void hatch_hidden(cairo_t* cr, const HeatmapBox& box) {
  cairo_save(cr);
  each_run(box.grid, Cell::hidden, [&](std::int64_t row, std::int64_t begin, std::int64_t end, Rgb) {
    cairo_rectangle(cr, box.left + static_cast<double>(begin) * box.cell.width,
                    box.top + static_cast<double>(row) * box.cell.height,
                    static_cast<double>(end - begin) * box.cell.width, box.cell.height);
  });
  cairo_clip(cr);
  hatch(cr, {.x = box.left, .y = box.top, .width = box.matrix_width, .height = box.matrix_height});
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
}

void cross_out(cairo_t* cr, const HeatmapBox& box) {
  each_run(box.grid, Cell::not_a_number, [&](std::int64_t row, std::int64_t begin, std::int64_t end, Rgb) {
    for (std::int64_t column = begin; column < end; ++column) {
      const double x = box.left + static_cast<double>(column) * box.cell.width;
      const double y = box.top + static_cast<double>(row) * box.cell.height;
      set_colour(cr, kPaper);
      cairo_rectangle(cr, x, y, box.cell.width, box.cell.height);
      cairo_fill(cr);
      const double inset = std::min(box.cell.width, box.cell.height) * 0.25;
      cross(
          cr,
          {.x = x + inset, .y = y + inset, .width = box.cell.width - 2 * inset, .height = box.cell.height - 2 * inset});
    }
  });
}

/// One pixel a cell. Hidden cells are a hatch of pixels here, a diagonal every few cells.
void paint_image(cairo_t* cr, const HeatmapBox& box) {
  const Grid& grid = box.grid;
  const auto period = std::max<std::int64_t>(3, std::lround(2 * kHatchSpacing / (box.cell.width + box.cell.height)));
  const auto colour_of_cell = [&](std::int64_t row, std::int64_t column) {
    if (grid.cell(row, column) == Cell::not_a_number) return kCross;
    if (grid.cell(row, column) == Cell::number) return grid.scale.colour(grid.value(row, column));
    return (row + column) % period == 0 ? kHatchLine : kHatchPaper;
  };
  paint_pixels(cr, {.x = box.left, .y = box.top, .width = box.matrix_width, .height = box.matrix_height}, grid.rows,
               grid.columns, colour_of_cell);
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

/// Runs of cells of a kind.
std::int64_t count_runs(const Grid& grid, Cell kind) {
  std::int64_t count = 0;
  each_run(grid, kind, [&](std::int64_t, std::int64_t, std::int64_t, Rgb) { ++count; });
  return count;
}

}  // namespace

void hatch(cairo_t* cr, const Rectangle& place) {
  const auto& [x, y, width, height] = place;
  set_colour(cr, kHatchPaper);
  cairo_rectangle(cr, x, y, width, height);
  cairo_fill(cr);
  set_colour(cr, kHatchLine);
  cairo_set_line_width(cr, 0.7);
  const auto lines = static_cast<int>(std::ceil((width + height) / kHatchSpacing));
  for (int line = 0; line < lines; ++line) {
    const double at = (line + 0.5) * kHatchSpacing;
    rule(cr, x + at, y, x + at - height, y + height);
  }
  cairo_stroke(cr);
}

void cross(cairo_t* cr, const Rectangle& place) {
  const auto& [x, y, width, height] = place;
  rule(cr, x, y, x + width, y + height);
  rule(cr, x + width, y, x, y + height);
  set_colour(cr, kCross);
  cairo_set_line_width(cr, 1);
  cairo_stroke(cr);
}

void paint_pixels(cairo_t* cr, const Rectangle& place, std::int64_t rows, std::int64_t columns,
                  const std::function<Rgb(std::int64_t row, std::int64_t column)>& colour_at) {
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

void paint_cells(cairo_t* cr, const HeatmapBox& box) {
  if (box.grid.rows * box.grid.columns > kMostRectangles) {
    paint_image(cr, box);
  } else {
    paint_rectangles(cr, box);
  }
  if (box.grid.has_hidden && count_runs(box.grid, Cell::hidden) <= kMostMarks) hatch_hidden(cr, box);
  // A cross needs some room to be one.
  const bool room = std::min(box.cell.width, box.cell.height) >= 4;
  if (box.grid.has_not_a_number && room && count_runs(box.grid, Cell::not_a_number) <= kMostMarks) cross_out(cr, box);
  paint_gaps(cr, box);
  if (box.number_size > 0) paint_numbers(cr, box);
}

}  // namespace qkv::picture
