#include "qkv/picture/colour.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "picture/oklab.h"

namespace qkv::colour_test {
namespace {

using picture::Triple;

constexpr std::array<ColourMap, 2> kMaps{ColourMap::sequential, ColourMap::diverging};

Triple oklab_at(ColourMap map, int index) { return picture::oklab_of(picture::linear_of(colour_at(map, index))); }

/// Differences between entries `stride` apart, from entry `begin` to entry `end`.
std::vector<double> steps(ColourMap map, int begin, int end, int stride) {
  std::vector<double> out;
  for (int i = begin; i + stride <= end; i += stride) {
    out.push_back(picture::distance(oklab_at(map, i), oklab_at(map, i + stride)));
  }
  return out;
}

double ratio(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end()) / *std::min_element(values.begin(), values.end());
}

// Machado, Oliveira and Fernandes (2009), table 1, severity 1.0: what a dichromat sees, in linear RGB.
using Matrix = std::array<Triple, 3>;
constexpr Matrix kProtanopia{
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix kDeuteranopia{
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix kTritanopia{
    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}};

Triple seen(const Matrix& eye, Rgb colour) {
  const Triple linear = picture::linear_of(colour);
  Triple out{};
  for (std::size_t row = 0; row < 3; ++row) {
    out[row] = std::clamp(eye[row][0] * linear[0] + eye[row][1] * linear[1] + eye[row][2] * linear[2], 0.0, 1.0);
  }
  return picture::oklab_of(out);
}

TEST(Oklab, AgreesWithPublishedPairs) {
  // The table of XYZ and OKLab pairs has white at L = 1; red's OKLab is a widely printed reference value.
  const Triple white = picture::oklab_of(picture::linear_of({255, 255, 255}));
  EXPECT_NEAR(white[0], 1, 1e-6);
  EXPECT_NEAR(std::hypot(white[1], white[2]), 0, 1e-6);
  const Triple red = picture::oklab_of(picture::linear_of({255, 0, 0}));
  EXPECT_NEAR(red[0], 0.62796, 1e-4);
  EXPECT_NEAR(red[1], 0.22486, 1e-4);
  EXPECT_NEAR(red[2], 0.12585, 1e-4);
}

TEST(Oklab, ReturnsToEveryEighthColour) {
  for (int red = 0; red < 256; red += 15) {
    for (int green = 0; green < 256; green += 15) {
      for (int blue = 0; blue < 256; blue += 15) {
        const Rgb colour{static_cast<std::uint8_t>(red), static_cast<std::uint8_t>(green),
                         static_cast<std::uint8_t>(blue)};
        EXPECT_EQ(picture::srgb_of(picture::linear_of_oklab(picture::oklab_of(picture::linear_of(colour)))), colour);
      }
    }
  }
}

// Entries are rounded to 1/255 a channel, at most half a unit of about 0.003 in OKLab each: over eight entries (about
// 0.026) two rounded ends shift a step by a tenth, so that the largest may pass the smallest by a fifth and no more.
TEST(ColourMap, StepsAreEvenToTheEye) {
  EXPECT_LT(ratio(steps(ColourMap::sequential, 0, 255, 8)), 1.2);
  EXPECT_LT(ratio(steps(ColourMap::diverging, 0, 127, 8)), 1.2);
  EXPECT_LT(ratio(steps(ColourMap::diverging, 128, 255, 8)), 1.2);
}

TEST(ColourMap, NoTwoEntriesAreAlike) {
  for (const ColourMap map : kMaps) {
    for (const double step : steps(map, 0, 255, 1)) EXPECT_GT(step, 0);
  }
}

TEST(ColourMap, SequentialOnlyDarkens) {
  for (int i = 1; i < kColourCount; ++i) {
    EXPECT_LT(oklab_at(ColourMap::sequential, i)[0], oklab_at(ColourMap::sequential, i - 1)[0]) << i;
  }
}

TEST(ColourMap, SequentialBeginsAtPaperAndEndsNearBlack) {
  EXPECT_GT(contrast(colour_at(ColourMap::sequential, 0), {0, 0, 0}), 19);
  EXPECT_LT(contrast(colour_at(ColourMap::sequential, 0), {255, 255, 255}), 1.1);
  EXPECT_GT(contrast(colour_at(ColourMap::sequential, 255), {255, 255, 255}), 12);
}

TEST(ColourMap, DivergingIsSymmetricInLightness) {
  // Half a unit of rounding on each side: 0.004 at most in L.
  for (int i = 0; i < 128; ++i) {
    EXPECT_NEAR(oklab_at(ColourMap::diverging, 127 - i)[0], oklab_at(ColourMap::diverging, 128 + i)[0], 0.004) << i;
  }
  for (int i = 1; i < 128; ++i) {
    EXPECT_LT(oklab_at(ColourMap::diverging, 128 + i)[0], oklab_at(ColourMap::diverging, 127 + i)[0] + 0.001) << i;
  }
}

TEST(ColourMap, DivergingIsNeutralInTheMiddle) {
  for (const int middle : {127, 128}) {
    const Triple lab = oklab_at(ColourMap::diverging, middle);
    EXPECT_LT(std::hypot(lab[1], lab[2]), 0.01);
  }
}

Triple dark_oklab_at(ColourMap map, int index) {
  return picture::oklab_of(picture::linear_of(colour_at(map, index, Ground::dark)));
}

TEST(ColourMap, OnADarkGroundRisesFromTheGround) {
  EXPECT_EQ(colour_at(ColourMap::sequential, 0, Ground::dark), (Rgb{0x15, 0x17, 0x1d}));
  EXPECT_EQ(colour_at(ColourMap::sequential, 255, Ground::dark), (Rgb{0xf1, 0xfa, 0xc0}));
  for (int i = 1; i < kColourCount; ++i) {
    // Neighbours may round to the same lightness: a unit of 1/255 is about 0.004.
    EXPECT_GT(dark_oklab_at(ColourMap::sequential, i)[0], dark_oklab_at(ColourMap::sequential, i - 1)[0] - 0.004) << i;
  }
  for (int i = 0; i < 128; ++i) {
    EXPECT_NEAR(dark_oklab_at(ColourMap::diverging, 127 - i)[0], dark_oklab_at(ColourMap::diverging, 128 + i)[0],
                0.004);
  }
  EXPECT_LT(dark_oklab_at(ColourMap::diverging, 128)[0], 0.25);
  EXPECT_GT(dark_oklab_at(ColourMap::diverging, 255)[0], 0.8);
}

TEST(ColourMap, KeepsItsMeaningForColourBlindReaders) {
  for (const Matrix& eye : {kProtanopia, kDeuteranopia, kTritanopia}) {
    // A just noticeable difference is about 0.02. The sequential map's ends differ in lightness too; the diverging
    // map's ends, and its arms half-way out, by their hues alone.
    EXPECT_GT(picture::distance(seen(eye, colour_at(ColourMap::sequential, 0)),
                                seen(eye, colour_at(ColourMap::sequential, 255))),
              25 * 0.02);
    for (const int out : {64, 128}) {
      EXPECT_GT(picture::distance(seen(eye, colour_at(ColourMap::diverging, 128 - out)),
                                  seen(eye, colour_at(ColourMap::diverging, 127 + out))),
                5 * 0.02);
    }
    for (int i = 8; i < kColourCount; i += 8) {
      EXPECT_LT(seen(eye, colour_at(ColourMap::sequential, i))[0],
                seen(eye, colour_at(ColourMap::sequential, i - 8))[0]);
    }
  }
}

TEST(ColourMap, ClampsAndTakesNanAsNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ColourMap map : kMaps) {
    EXPECT_EQ(colour_of(map, -3), colour_at(map, 0));
    EXPECT_EQ(colour_of(map, nan), colour_at(map, 0));
    EXPECT_EQ(colour_of(map, 7), colour_at(map, 255));
    EXPECT_EQ(colour_at(map, 1000), colour_at(map, 255));
    EXPECT_EQ(colour_at(map, -1000), colour_at(map, 0));
  }
}

TEST(Contrast, IsWcags) {
  EXPECT_NEAR(contrast({0, 0, 0}, {255, 255, 255}), 21, 1e-9);
  EXPECT_NEAR(contrast({0x77, 0x77, 0x77}, {255, 255, 255}), 4.48, 0.01);  // the well-known grey that just fails AA
  EXPECT_EQ(contrast({9, 9, 9}, {9, 9, 9}), 1);
}

TEST(Contrast, TextCanBeReadOnEveryColour) {
  for (const ColourMap map : kMaps) {
    for (int i = 0; i < kColourCount; ++i) {
      EXPECT_GE(contrast(text_colour_on(colour_at(map, i)), colour_at(map, i)), 4.5) << i;
    }
  }
  for (int grey = 0; grey < 256; ++grey) {
    const auto level = static_cast<std::uint8_t>(grey);
    EXPECT_GE(contrast(text_colour_on({level, level, level}), {level, level, level}), 4.5) << grey;
  }
}

}  // namespace
}  // namespace qkv::colour_test
