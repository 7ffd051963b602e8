// Ranks of a test, which ends after a minute whatever they do.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "qkv/cluster/local.h"

namespace qkv::testing_cluster {

/// run_local() with a limit of 60 s: then the test fails with what each rank did last.
void run_ranks(int ranks, const std::function<void(Transport&)>& body, LocalOptions options = {});

/// What each rank's body throws, in words: empty for one that throws nothing or is lost.
[[nodiscard]] std::vector<std::string> errors_of_ranks(int ranks, const std::function<void(Transport&)>& body,
                                                       const LocalOptions& options = {});

}  // namespace qkv::testing_cluster
