// The colours of pictures: two maps that are even to the eye and safe for colour-blind readers, each with a twin
// for dark grounds.
#pragma once

#include <cstdint>

namespace qkv {

enum class ColourMap : std::uint8_t {
  sequential,  // from light to dark, for weights: 0 is the paper's colour
  diverging,   // two hues meeting at a neutral zero, for signed scores
};

/// How numbers between the ends of a colour bar map to colours.
enum class ColourScale : std::uint8_t {
  linear,
  logarithmic,  // equal ratios are equal steps of colour; 0 has the lowest colour
};

/// What the colours of zero meet: a map for a dark ground starts dark, or the largest weight would be what sinks.
enum class Ground : std::uint8_t { light, dark };

/// One colour of the screen: sRGB, eight bits a channel.
struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  [[nodiscard]] bool operator==(const Rgb&) const = default;
};

inline constexpr int kColourCount = 256;  // entries of each map

/// Entry `index` (0 to kColourCount - 1, clamped) of a map. The entries are equal steps apart in OKLab (Ottosson 2020).
[[nodiscard]] Rgb colour_at(ColourMap map, int index, Ground ground = Ground::light);

/// The entry nearest to `fraction` in [0, 1] (clamped; NaN gives entry 0).
[[nodiscard]] Rgb colour_of(ColourMap map, double fraction, Ground ground = Ground::light);

/// Ratio of the relative luminances of two colours, 1 to 21 (WCAG 2.2, section 1.4.3).
[[nodiscard]] double contrast(Rgb a, Rgb b);

/// Ink or white, whichever can be read on `background`: contrast() with it is at least 4.5.
[[nodiscard]] Rgb text_colour_on(Rgb background);

}  // namespace qkv
