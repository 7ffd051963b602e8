// The table of cases: few rows in which every pair of choices meets.
#pragma once

#include <vector>

#include "cases/case.h"

namespace qkv::cases {

/// Dtypes x head widths (Dv as well) x lengths around the edges of tiles x masks x biases x scale x softcap x dropout x
/// sinks x grouped heads x layouts x threads: any two choices of two columns stand together in at least one row
/// (Cohen et al. 1997, AETG, with 20 candidates a row). The same rows in every run.
[[nodiscard]] const std::vector<Case>& table();

/// The same for few queries and more than a thousand keys, as when decoding.
[[nodiscard]] const std::vector<Case>& decode_table();

}  // namespace qkv::cases
