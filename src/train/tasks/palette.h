// The colours of the task "shapes", by name.
#pragma once

#include <array>
#include <string_view>

namespace qkv::training {

struct NamedColour {
  std::string_view name;
  std::array<float, 3> rgb;
};

inline constexpr std::array<float, 3> kGround = {1, 1, 1};
inline constexpr NamedColour kPalette[] = {
    {"red", {1, 0, 0}},    {"green", {0, 0.75F, 0}}, {"blue", {0, 0, 1}},
    {"yellow", {1, 1, 0}}, {"orange", {1, 0.5F, 0}}, {"purple", {0.5F, 0, 0.75F}},
};

}  // namespace qkv::training
