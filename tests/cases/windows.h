// A case cut into windows of its queries and keys, and put together again.
#pragma once

#include <string>

#include "cases/case.h"
#include "cases/gradients.h"

namespace qkv::cases {

/// Cuts queries and keys by the seed: not at all, into stretches (some of them empty), or every second or third. Calls
/// each window of queries with each of keys, on every target and on the reference, merges by (out, lse) over the
/// windows of keys, and holds the whole result to the reference of the uncut call. Over a cache, each sequence's keys
/// are cut by themselves, into caches that are contiguous and in pages in turn. Empty where all is well.
[[nodiscard]] std::string windows_fault(const Case& one);

/// The same of the gradients: d_q is summed over windows of keys, d_k and d_v over those of queries, those of biases
/// and sinks over all. Of cases whose gradients gradient_fault() judges.
[[nodiscard]] std::string window_gradients_fault(const Case& one);

/// What judges those of `run`, which adds up the gradients of parts of the call: what is off by the rounding of each
/// row's lse is allowed, beside the slack that `run` names for each gradient.
[[nodiscard]] std::string merged_gradients_fault(const Case& one, const GradientsOn& run);

}  // namespace qkv::cases
