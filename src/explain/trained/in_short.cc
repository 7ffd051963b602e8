#include <algorithm>
#include <functional>

#include "qkv/explain/model.h"

namespace qkv {

Explanation in_short(const Explanation& explanation) {
  Explanation part = explanation;
  std::erase_if(part.steps, [](const Section& step) { return step.is_detail; });
  for (Section& step : part.steps) {
    const auto is_marked = [](const Image& image) { return !image.marked.empty(); };
    if (std::ranges::any_of(step.images, is_marked)) std::erase_if(step.images, std::not_fn(is_marked));
  }
  return part;
}

}  // namespace qkv
