// sRGB, linear light and OKLab (B. Ottosson, "A perceptual color space for image processing", 2020).
#pragma once

#include <array>

#include "qkv/picture/colour.h"

namespace qkv::picture {

using Triple = std::array<double, 3>;  // red, green, blue; or L, a, b

[[nodiscard]] Triple linear_of(Rgb colour);       // each channel in [0, 1], proportional to light
[[nodiscard]] Rgb srgb_of(const Triple& linear);  // rounds; clamps what lies outside the gamut
[[nodiscard]] Triple oklab_of(const Triple& linear);
[[nodiscard]] Triple linear_of_oklab(const Triple& lab);

/// Euclidean distance: the perceived difference where the triples are OKLab.
[[nodiscard]] double distance(const Triple& a, const Triple& b);

}  // namespace qkv::picture
