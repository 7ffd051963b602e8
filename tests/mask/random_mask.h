// Random expressions, each with a rule that says the same in its own words.
#pragma once

#include <rapidcheck.h>

#include <functional>
#include <vector>

#include "qkv/mask.h"

namespace qkv::mask_test {

using Rule = std::function<bool(const Place&)>;

struct RandomMask {
  Mask mask;
  Rule rule;
};

inline std::int64_t any_in(std::int64_t low, std::int64_t high) { return *rc::gen::inRange(low, high + 1); }

inline Align any_align() { return *rc::gen::element(Align::bottom_right, Align::top_left); }

/// The extent, or 1, which broadcasts.
inline std::int64_t one_or(std::int64_t extent) { return *rc::gen::arbitrary<bool>() ? extent : 1; }

inline MaskShape any_shape() {
  return {.B = any_in(1, 2), .H = any_in(1, 3), .Tq = any_in(0, 20), .Tk = any_in(0, 80)};
}

/// An expression of at most `depth` operators on top of each other that stands over the shape.
RandomMask any_mask(const MaskShape& shape, int depth);

}  // namespace qkv::mask_test
