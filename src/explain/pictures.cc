// Every picture of an explanation, named for a file.
#include <fmt/format.h>

#include "qkv/explain.h"

namespace qkv {
namespace {

void add_pictures(std::vector<NamedPicture>& pictures, const Section& section, const std::string& prefix) {
  for (const NamedHeatmap& named : section.heatmaps) {
    pictures.push_back({prefix + named.id, Panel{"", {named.heatmap}}, std::nullopt});
  }
  for (const NamedChart& named : section.charts) pictures.push_back({prefix + named.id, std::nullopt, named.chart});
  for (const NamedDiagram& named : section.diagrams) {
    pictures.push_back({prefix + named.id, std::nullopt, std::nullopt, named.diagram});
  }
}

}  // namespace

std::vector<NamedPicture> pictures(const Explanation& explanation) {
  std::vector<NamedPicture> all;
  for (const Section& step : explanation.steps) add_pictures(all, step, fmt::format("{:02}-", step.number));
  for (const Section& why : explanation.whys) add_pictures(all, why, "why-");
  return all;
}

}  // namespace qkv
