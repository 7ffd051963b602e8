// The cells of a heatmap on a cairo context.
#pragma once

#include <cairo.h>

#include <cstdint>
#include <functional>

#include "picture/heatmap_layout.h"

namespace qkv::picture {

struct Rectangle {
  double x = 0, y = 0, width = 0, height = 0;
};

/// Fills `place` with the sign of hidden cells: grey paper and diagonal lines. They run past its edges: clip first.
void hatch(cairo_t* cr, const Rectangle& place);

/// The sign of NaN.
void cross(cairo_t* cr, const Rectangle& place);

/// An image of rows x columns pixels with sharp edges, stretched over `place`.
void paint_pixels(cairo_t* cr, const Rectangle& place, std::int64_t rows, std::int64_t columns,
                  const std::function<Rgb(std::int64_t row, std::int64_t column)>& colour_at);

/// Colours, hatches, crosses and numbers of a box's matrix, which must have cells.
void paint_cells(cairo_t* cr, const HeatmapBox& box);

}  // namespace qkv::picture
