#include <algorithm>
#include <functional>
#include <set>

#include "qkv/explain/model.h"

namespace qkv {

namespace {

// Of the maps over an image those of the tokens that have a pattern, if any has one.
void shorten_images(Section& step) {
  const auto is_marked = [](const Image& image) { return !image.marked.empty(); };
  if (std::ranges::any_of(step.images, is_marked)) std::erase_if(step.images, std::not_fn(is_marked));
}

// The map of the head that has a step of its own, by its title.
std::string shown_head(const Explanation& explanation) {
  const auto head = std::ranges::find(explanation.steps, "head", &Section::id);
  return head == explanation.steps.end() ? "" : head->heatmaps.front().heatmap.title;
}

bool is_head_step(const Section& step) { return step.id == "overview" || step.is_folded; }

}  // namespace

Explanation in_short(const Explanation& explanation) {
  Explanation part = explanation;
  if (part.query) part.steps.clear();
  std::erase_if(part.steps, [](const Section& step) { return step.is_detail; });
  std::ranges::for_each(part.steps, shorten_images);
  return part;
}

Explanation with_known_heads(const Explanation& explanation) {
  std::set<std::string> plain;
  for (const Section& step : explanation.steps) {
    for (const Thumbnail& head : step.thumbnails) {
      if (head.label.empty()) plain.insert(head.target);
    }
  }
  const std::string shown = shown_head(explanation);
  Explanation part = explanation;
  std::erase_if(part.steps, [](const Section& step) { return step.is_detail && !is_head_step(step); });
  for (Section& step : part.steps) {
    shorten_images(step);
    if (!step.is_folded) continue;
    std::erase_if(step.heatmaps,
                  [&](const NamedHeatmap& map) { return plain.contains(map.id) || map.heatmap.title == shown; });
  }
  std::erase_if(part.steps, [](const Section& step) { return step.is_folded && step.heatmaps.empty(); });
  return part;
}

}  // namespace qkv
