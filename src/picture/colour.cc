#include "qkv/picture/colour.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "picture/oklab.h"
#include "picture/typography.h"

namespace qkv {
namespace {

using picture::kInk;
using picture::Triple;
using Colours = std::array<Rgb, kColourCount>;

struct Knot {
  double lightness, chroma, hue;  // OKLCh, hue in degrees
};

// Paper, leaf, teal, blue, night: the light falls all the way, and red against green never carries meaning.
constexpr std::array<Knot, 6> kSequential{{{.lightness = 0.985, .chroma = 0.008, .hue = 95},
                                           {.lightness = 0.90, .chroma = 0.075, .hue = 120},
                                           {.lightness = 0.78, .chroma = 0.105, .hue = 165},
                                           {.lightness = 0.63, .chroma = 0.105, .hue = 210},
                                           {.lightness = 0.46, .chroma = 0.115, .hue = 255},
                                           {.lightness = 0.27, .chroma = 0.090, .hue = 275}}};
// One arm, drawn in two hues: blue below zero and rust above it have the same lightness and chroma at every step.
constexpr std::array<std::array<double, 2>, 5> kArm{
    {{0.97, 0}, {0.87, 0.055}, {0.73, 0.11}, {0.58, 0.138}, {0.42, 0.117}}};
// Their twins for a dark ground: the same hues, the light rising.
constexpr std::array<Rgb, 6> kDarkSequential{{{.red = 0x15, .green = 0x17, .blue = 0x1d},
                                              {.red = 0x31, .green = 0x38, .blue = 0x69},
                                              {.red = 0x2d, .green = 0x6c, .blue = 0xa8},
                                              {.red = 0x21, .green = 0xab, .blue = 0xb8},
                                              {.red = 0x83, .green = 0xe2, .blue = 0xb1},
                                              {.red = 0xf1, .green = 0xfa, .blue = 0xc0}}};
constexpr std::array<std::array<double, 2>, 5> kDarkArm{
    {{0.21, 0}, {0.38, 0.07}, {0.55, 0.115}, {0.71, 0.12}, {0.87, 0.07}}};
constexpr double kNegativeHue = 250;
constexpr double kPositiveHue = 45;

constexpr Rgb kBlack{.red = 0, .green = 0, .blue = 0};
constexpr Rgb kWhite{.red = 255, .green = 255, .blue = 255};
constexpr double kReadable = 4.5;

Triple oklab_of_knot(const Knot& knot) {
  const double angle = knot.hue * std::numbers::pi / 180;
  return {knot.lightness, knot.chroma * std::cos(angle), knot.chroma * std::sin(angle)};
}

/// The Catmull-Rom spline through the knots, at `at` in [0, knots - 1].
Triple on_spline(std::span<const Triple> knots, double at) {
  const auto last = static_cast<int>(knots.size()) - 1;
  const int from = std::min(static_cast<int>(at), last - 1);
  const double t = at - from;
  const auto knot = [&](int index, std::size_t axis) {
    if (index < 0) return 2 * knots[0][axis] - knots[1][axis];
    if (index > last) return 2 * knots[last][axis] - knots[last - 1][axis];
    return knots[index][axis];
  };
  Triple point{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double a = knot(from - 1, axis);
    const double b = knot(from, axis);
    const double c = knot(from + 1, axis);
    const double d = knot(from + 2, axis);
    point[axis] = b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
  }
  return point;
}

/// `count` points on the spline through `corners`, equally far apart along it.
std::vector<Triple> evenly_spaced(std::span<const Triple> corners, int count) {
  constexpr int kFine = 4096;
  const auto last = static_cast<double>(corners.size() - 1);
  const auto spline = [&](int step) { return on_spline(corners, last * step / kFine); };
  std::vector<double> length{0};
  for (int step = 1; step <= kFine; ++step) {
    length.push_back(length.back() + picture::distance(spline(step - 1), spline(step)));
  }

  std::vector<Triple> points;
  for (int i = 0, step = 0; i < count; ++i) {
    while (step < kFine && length[step] < length.back() * i / (count - 1)) ++step;
    points.push_back(spline(step));
  }
  return points;
}

Colours make_sequential(Ground ground) {
  std::vector<Triple> corners;
  if (ground == Ground::dark) {
    for (const Rgb colour : kDarkSequential) corners.push_back(picture::oklab_of(picture::linear_of(colour)));
  } else {
    for (const Knot& knot : kSequential) corners.push_back(oklab_of_knot(knot));
  }
  const std::vector<Triple> points = evenly_spaced(corners, kColourCount);
  Colours colours{};
  for (int i = 0; i < kColourCount; ++i) colours[i] = picture::srgb_of(picture::linear_of_oklab(points[i]));
  return colours;
}

std::vector<Triple> arm_of(double hue, Ground ground) {
  std::vector<Triple> knots;
  for (const auto& [lightness, chroma] : ground == Ground::dark ? kDarkArm : kArm) {
    knots.push_back(oklab_of_knot({lightness, chroma, hue}));
  }
  // An even number of entries has no middle one: both arms begin half a step away from it.
  const std::vector<Triple> halves = evenly_spaced(knots, kColourCount);
  std::vector<Triple> points;
  for (int i = 1; i < kColourCount; i += 2) points.push_back(halves[i]);
  return points;
}

Colours make_diverging(Ground ground) {
  const std::vector<Triple> negative = arm_of(kNegativeHue, ground);
  const std::vector<Triple> positive = arm_of(kPositiveHue, ground);
  constexpr int kHalf = kColourCount / 2;
  Colours colours{};
  for (int i = 0; i < kHalf; ++i) {
    colours[kHalf - 1 - i] = picture::srgb_of(picture::linear_of_oklab(negative[i]));
    colours[kHalf + i] = picture::srgb_of(picture::linear_of_oklab(positive[i]));
  }
  return colours;
}

double luminance(Rgb colour) {
  const Triple linear = picture::linear_of(colour);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

}  // namespace

Rgb colour_at(ColourMap map, int index, Ground ground) {
  static const std::array<Colours, 2> sequential = {make_sequential(Ground::light), make_sequential(Ground::dark)};
  static const std::array<Colours, 2> diverging = {make_diverging(Ground::light), make_diverging(Ground::dark)};
  const int entry = std::clamp(index, 0, kColourCount - 1);
  return (map == ColourMap::sequential ? sequential : diverging)[static_cast<std::size_t>(ground)][entry];
}

Rgb colour_of(ColourMap map, double fraction, Ground ground) {
  if (!(fraction > 0)) return colour_at(map, 0, ground);
  return colour_at(map, static_cast<int>(std::lround(std::min(fraction, 1.0) * (kColourCount - 1))), ground);
}

double contrast(Rgb a, Rgb b) {
  const double light = std::max(luminance(a), luminance(b));
  const double dark = std::min(luminance(a), luminance(b));
  return (light + 0.05) / (dark + 0.05);
}

Rgb text_colour_on(Rgb background) {
  if (contrast(kInk, background) >= kReadable) return kInk;
  return contrast(kWhite, background) >= kReadable ? kWhite : kBlack;
}

}  // namespace qkv
