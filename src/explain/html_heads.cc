// All heads of a page: small pictures in a grid, and the whole ones folded below.
#include <fmt/format.h>

#include <algorithm>

#include "explain/html_heatmap.h"
#include "qkv/png.h"

namespace qkv::explain_detail {
namespace {

constexpr std::int64_t kSide = 64;  // cells of a thumbnail; of more, the largest of a block

// A pixel a cell; a browser scales it.
std::string png_of(const TensorView& weights) {
  const std::int64_t block = (std::max(weights.dim(0), weights.dim(1)) + kSide - 1) / kSide;
  const std::int64_t rows = (weights.dim(0) + block - 1) / block;
  const std::int64_t columns = (weights.dim(1) + block - 1) / block;
  std::vector<double> cells(static_cast<std::size_t>(rows * columns));
  const std::vector<double> all = weights.to_vector();
  for (std::int64_t q = 0; q < weights.dim(0); ++q) {
    for (std::int64_t k = 0; k < weights.dim(1); ++k) {
      double& cell = cells[static_cast<std::size_t>(q / block * columns + k / block)];
      cell = std::max(cell, all[static_cast<std::size_t>(q * weights.dim(1) + k)]);
    }
  }
  std::vector<std::uint8_t> pixels;
  for (const double cell : cells) {
    const Rgb colour = colour_of(ColourMap::sequential, cell);
    pixels.insert(pixels.end(), {colour.red, colour.green, colour.blue});
  }
  const std::vector<std::byte> bytes = encode_png(Tensor(pixels, {rows, columns, 3}));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string html_thumbnails(const std::vector<Thumbnail>& thumbnails) {
  std::string html = "<div class=\"thumbs\">";
  for (const Thumbnail& head : thumbnails) {
    html += fmt::format("<a href=\"#{}\">{}<b>{}</b><span>{}</span></a>\n", html_escaped(head.target),
                        html_image("image/png", png_of(head.weights), head.title), html_escaped(head.title),
                        html_escaped(head.label));
  }
  return html + "</div>\n";
}

std::string html_folded(const std::vector<NamedHeatmap>& heatmaps) {
  std::string html;
  for (const NamedHeatmap& named : heatmaps) {
    html += fmt::format("<details id=\"{}\"><summary>{}</summary>{}</details>\n", html_escaped(named.id),
                        html_escaped(named.heatmap.title), html_heatmaps({named}));
  }
  return html;
}

}  // namespace qkv::explain_detail
