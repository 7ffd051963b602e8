// What a reply tells of the options that its attention ran with.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "qkv/view/problem.h"

namespace qkv::view_detail {

/// scale, softcap, bias, mask, dropout, sinks and target by name, null for those that do nothing.
[[nodiscard]] nlohmann::ordered_json applied_as_json(const AttentionProblem& problem);

}  // namespace qkv::view_detail
