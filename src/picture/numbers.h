// Numbers as people read them: in cells, and beside axes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace qkv::picture {

/// "1.5e-07" as "1.5e-7": the exponent's padding tells nothing.
[[nodiscard]] std::string without_padded_exponent(std::string text);

/// How all numbers of one matrix are written, so that they can be compared.
struct NumberStyle {
  bool scientific = false;
  int decimals = 2;

  [[nodiscard]] std::string operator()(double value) const;  // "0.25", "-1.3e-07", "inf", "NaN"
};

/// Fixed with `decimals`, unless the largest magnitude would then read as zero or take more than five digits before
/// the point: then scientific with one decimal.
[[nodiscard]] NumberStyle style_for(double largest, int decimals);

/// At most `most` (at least 2) round numbers from low to high: multiples of 1, 2 or 5 times a power of ten.
[[nodiscard]] std::vector<double> round_ticks(double low, double high, int most);

/// Labels of ticks that differ from one another, with as many digits as that takes.
[[nodiscard]] std::vector<std::string> tick_labels(std::span<const double> ticks);

enum class Base : std::uint8_t { two, ten };

/// At most `most` powers of the base from low > 0 to high, or, where fewer than three would show, multiples of 1, 2 and
/// 5 (round ones for base two).
[[nodiscard]] std::vector<double> logarithmic_ticks(double low, double high, Base base, int most);

/// Each with its own exponent, to two digits where that tells them apart: "0.01", "2e-5".
[[nodiscard]] std::vector<std::string> logarithmic_tick_labels(std::span<const double> ticks);

}  // namespace qkv::picture
