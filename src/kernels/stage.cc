#include "qkv/stage.h"

#include <array>

namespace qkv {

std::string_view name_of(Stage stage) noexcept {
  constexpr std::array<std::string_view, kStages> kNames = {"raw",    "scaled",  "softcapped", "biased",
                                                            "masked", "weights", "dropped"};
  return kNames[static_cast<std::size_t>(stage)];
}

}  // namespace qkv
