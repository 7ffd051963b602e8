// What to try first with each model of the box.
#pragma once

#include <string_view>
#include <vector>

#include "qkv/api/about.h"

namespace qkv::api_detail {

/// Empty for a model that qkv does not bring along.
[[nodiscard]] std::vector<AboutExample> examples_of_model(std::string_view model);

}  // namespace qkv::api_detail
