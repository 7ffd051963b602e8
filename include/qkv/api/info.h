// What this copy is, and what the machine under it can do.
#pragma once

#include <string>

namespace qkv {

/// Version, build, processor and targets, in lines of at most `width` columns. Throws as cpu_targets().
[[nodiscard]] std::string info_as_text(int width);

/// {"version", "build", "cpu", "targets", "runs_on"}. Throws as cpu_targets().
[[nodiscard]] std::string info_as_json();

}  // namespace qkv
