// The models of the box, with what each has learnt.
#pragma once

#include <vector>

#include "qkv/api/about.h"

namespace qkv::api_detail {

[[nodiscard]] std::vector<AboutModel> models_of_the_box();

}  // namespace qkv::api_detail
