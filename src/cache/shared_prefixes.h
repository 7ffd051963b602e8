// Which sequences of a batch begin with the same pages.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/decode_fused.h"

namespace qkv {

/// Columns of 64 keys that some sequences read from the same pages.
struct SharedRun {
  KeyRange columns;
  std::vector<std::int64_t> sequences;  // two or more
};

/// The runs that are worth reading once: a sequence's runs lie one behind the other from column 0 on, each within the
/// one before it. A column that the mask does not show to every query ends them; a bias and dropout, which know of the
/// sequence, leave none.
[[nodiscard]] std::vector<SharedRun> shared_runs(const DecodeCall& call, const SequencePlans& plans);

}  // namespace qkv
