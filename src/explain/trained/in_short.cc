#include <algorithm>

#include "qkv/explain/model.h"

namespace qkv {
namespace {

// Of the maps over an image those of the tokens that have a pattern.
void shorten_image(Section& image) {
  const std::vector<NamedHeatmap> all = image.heatmaps;
  std::erase_if(image.heatmaps, [&](const NamedHeatmap& map) {
    return std::ranges::none_of(all, [&](const NamedHeatmap& other) {
      return map.id == other.id ? std::ranges::count(map.id, '-') > 1 : other.id.starts_with(map.id + "-");
    });
  });
}

}  // namespace

Explanation in_short(const Explanation& explanation) {
  Explanation part = explanation;
  const auto heads =
      std::ranges::find_if(part.steps, [](const Section& step) { return step.id.starts_with("heads-"); });
  part.steps.erase(heads, part.steps.end());
  const auto image = std::ranges::find(part.steps, "image", &Section::id);
  if (image != part.steps.end() && !image->tables.empty()) shorten_image(*image);
  return part;
}

}  // namespace qkv
