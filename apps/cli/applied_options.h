// What a command tells of the options that its attention ran with.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "attend_problem.h"

namespace qkv::cli {

/// Lines of scale, softcap, bias, mask, dropout, sinks and target; those that do nothing are left out.
[[nodiscard]] std::string applied_as_text(const AttendProblem& problem);

/// The same by name, null for those that do nothing.
[[nodiscard]] nlohmann::ordered_json applied_as_json(const AttendProblem& problem);

}  // namespace qkv::cli
