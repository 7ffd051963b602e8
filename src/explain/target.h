// Where attention runs for an explanation.
#pragma once

#include <string_view>

namespace qkv::explain_detail {

/// Every machine shows the same numbers, and a step's fit the next one's to the last digit.
inline constexpr std::string_view kTarget = "reference";

}  // namespace qkv::explain_detail
