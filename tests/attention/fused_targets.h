// The fused targets to run a test on.
#pragma once

#include <string>
#include <vector>

#include "qkv/targets.h"

namespace qkv::testing_attention {

/// Those that this build holds and this machine runs, slowest first.
inline std::vector<std::string> fused_targets() {
  std::vector<std::string> names;
  for (const CpuTarget& target : cpu_targets()) {
    if (target.compiled && target.runs_here && target.name != "reference") names.push_back(target.name);
  }
  return names;
}

}  // namespace qkv::testing_attention
