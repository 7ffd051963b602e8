// The batch entries of a case as the documents of a ragged batch.
#pragma once

#include <string>

#include "cases/case.h"

namespace qkv::cases {

/// Packs the entries end to end, each cut to lengths of its own where mask and bias allow it, and then each as a window
/// of that, and runs the call and its gradients on every target. What is not the same bits as each entry gets in a
/// batch of that entry's lengths, in words; d_q, whose order of sums depends on all that a call has to do, and biases
/// and sinks, which are summed over entries, may be off by the rounding of their terms. Empty where all is well.
[[nodiscard]] std::string ragged_fault(const Case& one);

}  // namespace qkv::cases
