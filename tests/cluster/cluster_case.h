// A case of the table over several ranks.
#pragma once

#include <string>

#include "cases/case.h"
#include "qkv/cluster/attention.h"

namespace qkv::testing_cluster {

/// Shares of queries and keys by the case's seed: contiguous, zig-zag, striped, or of random lengths, some of them 0;
/// of queries and keys alike where the seed says so and Tq = Tk.
[[nodiscard]] ClusterCall shares_of(const cases::Case& one, int ranks);

/// The case over `ranks` ranks, on every target and on the reference, held to the reference of one machine in the sense
/// of windows_fault(). Empty where all is well.
[[nodiscard]] std::string cluster_fault(const cases::Case& one, int ranks);

/// The same of the gradients, in the sense of window_gradients_fault().
[[nodiscard]] std::string cluster_gradients_fault(const cases::Case& one, int ranks);

}  // namespace qkv::testing_cluster
