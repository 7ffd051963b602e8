#include "text/pieces.h"

#include <algorithm>

namespace qkv::text {
namespace {

// Joins a part to the one before it where `joins(part, part before)`; parts only know whether they match before.
template <class Joins>
void join(std::vector<Part>& parts, const Joins& joins) {
  std::vector<Part> joined;
  bool matched = false;
  for (const Part& part : parts) {
    if (!joined.empty() && joins(part.matches, matched)) {
      joined.back().begin = std::min(joined.back().begin, part.begin);
      joined.back().end = std::max(joined.back().end, part.end);
    } else {
      joined.push_back(part);
    }
    matched = part.matches;
  }
  parts = std::move(joined);
}

}  // namespace

void apply_behavior(std::vector<Part>& parts, SplitBehavior behavior) {
  const auto match_behind_none = [](bool matches, bool matched) { return matches && !matched; };
  switch (behavior) {
    case SplitBehavior::removed:
      std::erase_if(parts, [](const Part& part) { return part.matches; });
      return;
    case SplitBehavior::isolated:
      return;
    case SplitBehavior::contiguous:
      return join(parts, [](bool matches, bool matched) { return matches == matched; });
    case SplitBehavior::merged_with_previous:
      return join(parts, match_behind_none);
    case SplitBehavior::merged_with_next:
      std::ranges::reverse(parts);
      join(parts, match_behind_none);
      std::ranges::reverse(parts);
      return;
  }
}

}  // namespace qkv::text
