// Where qkv attend reads and writes.
#pragma once

#include "attend_problem.h"

namespace qkv::cli {

/// Before the work: refuses a run without a result, two results for one place, a result in the place of an input, and
/// places that cannot be written to. Misuse names the options; Error names the place.
void check_places(const AttendFlags& flags);

}  // namespace qkv::cli
