#include "picture/oklab.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace qkv::picture {
namespace {

using Matrix = std::array<Triple, 3>;

constexpr Matrix kLmsOfLinear{{{0.4122214708, 0.5363325363, 0.0514459929},
                               {0.2119034982, 0.6806995451, 0.1073969566},
                               {0.0883024619, 0.2817188376, 0.6299787005}}};
constexpr Matrix kLabOfLms{{{0.2104542553, 0.7936177850, -0.0040720468},
                            {1.9779984951, -2.4285922050, 0.4505937099},
                            {0.0259040371, 0.7827717662, -0.8086757660}}};
constexpr Matrix kLmsOfLab{
    {{1.0, 0.3963377774, 0.2158037573}, {1.0, -0.1055613458, -0.0638541728}, {1.0, -0.0894841775, -1.2914855480}}};
constexpr Matrix kLinearOfLms{{{4.0767416621, -3.3077115913, 0.2309699292},
                               {-1.2684380046, 2.6097574011, -0.3413193965},
                               {-0.0041960863, -0.7034186147, 1.7076147010}}};

Triple times(const Matrix& matrix, const Triple& vector) {
  Triple out{};
  for (std::size_t row = 0; row < 3; ++row) {
    out[row] = matrix[row][0] * vector[0] + matrix[row][1] * vector[1] + matrix[row][2] * vector[2];
  }
  return out;
}

double decode(std::uint8_t channel) {
  const double value = channel / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

std::uint8_t encode(double light) {
  const double in_gamut = std::clamp(light, 0.0, 1.0);
  const double value = in_gamut <= 0.0031308 ? 12.92 * in_gamut : 1.055 * std::pow(in_gamut, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * value));
}

}  // namespace

Triple linear_of(Rgb colour) { return {decode(colour.red), decode(colour.green), decode(colour.blue)}; }

Rgb srgb_of(const Triple& linear) { return {encode(linear[0]), encode(linear[1]), encode(linear[2])}; }

Triple oklab_of(const Triple& linear) {
  Triple lms = times(kLmsOfLinear, linear);
  for (double& cone : lms) cone = std::cbrt(cone);
  return times(kLabOfLms, lms);
}

Triple linear_of_oklab(const Triple& lab) {
  Triple lms = times(kLmsOfLab, lab);
  for (double& cone : lms) cone = cone * cone * cone;
  return times(kLinearOfLms, lms);
}

double distance(const Triple& a, const Triple& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

}  // namespace qkv::picture
