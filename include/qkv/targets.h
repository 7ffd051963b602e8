// The sets of CPU kernels that this build holds.
#pragma once

#include <string>
#include <vector>

namespace qkv {

/// A set of CPU kernels, by the instructions that it needs.
struct CpuTarget {
  std::string name;          // "reference", "avx2", …
  std::string instructions;  // what the machine must offer
  std::string line;          // what it multiplies
  std::string substitute;    // the target that does the rest; empty: there is none
  bool compiled = false;     // this build holds kernels for it
  bool runs_here = false;    // the machine offers the instructions
  bool chosen = false;       // attention() uses it; exactly one target is chosen
};

/// Every target that qkv knows, slowest first. The best that is compiled and runs here is chosen, unless the
/// environment variable QKV_FORCE_TARGET, which is read once, names another. Throws InvalidArgument if it names one
/// that is unknown, not compiled in or not possible on this machine.
[[nodiscard]] std::vector<CpuTarget> cpu_targets();

}  // namespace qkv
