// Every picture of an explanation, named for a file.
#include <fmt/format.h>

#include "qkv/explain.h"

namespace qkv {
namespace {

void add_pictures(std::vector<NamedPicture>& pictures, const Section& section, const std::string& prefix) {
  for (const NamedHeatmap& named : section.heatmaps) {
    pictures.push_back({.name = prefix + named.id, .panel = Panel{"", {named.heatmap}}});
  }
  for (const NamedChart& named : section.charts) pictures.push_back({.name = prefix + named.id, .chart = named.chart});
  for (const NamedDiagram& named : section.diagrams) {
    pictures.push_back({.name = prefix + named.id, .diagram = named.diagram});
  }
  if (section.images.empty()) return;
  pictures.push_back({.name = prefix + section.id, .gallery = Gallery{section.title, section.images}});
}

}  // namespace

std::vector<NamedPicture> pictures(const Explanation& explanation) {
  std::vector<NamedPicture> all;
  for (const Section& step : explanation.steps) add_pictures(all, step, fmt::format("{:02}-", step.number));
  for (const Section& why : explanation.whys) add_pictures(all, why, "why-");
  return all;
}

std::string to_svg(const NamedPicture& picture) {
  if (picture.gallery) return to_svg(*picture.gallery);
  if (picture.diagram) return to_svg(*picture.diagram);
  return picture.panel ? to_svg(*picture.panel) : to_svg(*picture.chart);
}

std::string to_png(const NamedPicture& picture) {
  constexpr double kPixelsPerPoint = 1.5;  // an explanation has dozens of pictures
  if (picture.gallery) return to_png(*picture.gallery, kPixelsPerPoint);
  if (picture.diagram) return to_png(*picture.diagram, kPixelsPerPoint);
  return picture.panel ? to_png(*picture.panel, kPixelsPerPoint) : to_png(*picture.chart, kPixelsPerPoint);
}

}  // namespace qkv
