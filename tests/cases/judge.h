// Is a result of a case right? Two answers: as near the reference as plain loops come, for the table of cases; and
// within what rounding may do to each row, for any numbers at all.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cases/run.h"

namespace qkv::cases {

/// The case on every target, against the reference, in the sense of `row_fault` and with its guard zones. Empty where
/// all is well; else the first fault in words, the target first.
[[nodiscard]] std::string fault_by_row(const Case& one);

/// The same of results that `run` made by merging those of windows of keys: what rounding each part's lse does to its
/// share is allowed, too.
using RunOn = std::function<Written(std::string_view target, const Inputs& inputs)>;
[[nodiscard]] std::string merged_fault_by_row(const Case& one, const RunOn& run);

struct Verdict {
  std::string fault;
  double times = 1;  // the largest error of a target as a multiple of that of plain loops; 1 where these have none
};

/// The same, and no element is farther from the reference than twice as far as plain loops in f32 come at their worst
/// element (three times with a softcap), plus one rounding of the largest score and result. The plain loops take the
/// softmax in f32, and round its weights to the storage type before the second product, as FlashAttention's test does
/// (hopper/test_flash_attn.py). The case's values are `normal`, `one_hot` or `equal`, without specials.
[[nodiscard]] Verdict judge_by_plain(const Case& one);

}  // namespace qkv::cases
