// Numbers that carry the arithmetic which made them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "qkv/cost.h"

namespace qkv::cost_detail {

/// One factor of a product: `value` to the `power`, shown as `shown` (the number itself where empty) and its `name`.
struct Factor {
  std::int64_t value = 0;
  std::string_view name = {};
  int power = 1;
  std::string shown = {};
};

struct Arithmetic {
  Count value;
  std::string text;
};

/// Of a number that is not negative.
[[nodiscard]] Count count_of(std::int64_t value);

/// "96 heads × 2,048² × 4 B"; factors of 1 are left out unless nothing else is there.
[[nodiscard]] Arithmetic product(std::initializer_list<Factor> factors);
/// "a + b"
[[nodiscard]] Arithmetic operator+(const Arithmetic& a, const Arithmetic& b);
/// "96 layers × 1,207,959,552": `inner` by its value, or in brackets where that says more.
[[nodiscard]] Arithmetic times(const Factor& factor, const Arithmetic& inner);

/// n (n - 1) / 2 as one factor that shows its making.
[[nodiscard]] Factor pairs_below(std::int64_t n);

}  // namespace qkv::cost_detail
