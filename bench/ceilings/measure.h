// What bounds attention on this machine, measured.
#pragma once

#include <string>
#include <vector>

#include "ceilings/loops.h"

namespace qkv::bench {

struct Ceiling {
  std::string name;    // "fma", "matmul", "exp2", "softmax row", "tiles", "tiles streamed", "tiles stored", "read"
  std::string target;  // instructions used: "avx512", …
  std::string detail;  // what was run
  std::string unit;    // "GFLOP/s", "G/s", "GB/s"
  int threads = 1;
  double value = 0;
  double mebibytes = 0;  // of a read: what is read again and again, all threads together
};

/// Measures with each of these numbers of threads. Takes some seconds for each.
[[nodiscard]] std::vector<Ceiling> measure_ceilings(const std::vector<int>& thread_counts);

/// The loops of the widest vectors that this processor offers.
[[nodiscard]] VectorLoops widest_loops();

}  // namespace qkv::bench
