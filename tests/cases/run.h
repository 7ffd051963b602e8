// A case on a target.
#pragma once

#include <string>
#include <vector>

#include "cases/inputs.h"

namespace qkv::cases {

/// The fused targets that this build holds and this machine runs, slowest first, of those that serve `dtype`.
[[nodiscard]] std::vector<std::string> targets(DType dtype);
/// The targets to run a case on: targets(dtype), or, over a cache, all fused targets that run here, since which kernels
/// serve it depends on the type of the cache, too.
[[nodiscard]] std::vector<std::string> targets_of(const Case& one);

struct Written {
  Placed out;
  Placed lse;

  [[nodiscard]] bool gaps_untouched() const { return out.gaps_untouched() && lse.gaps_untouched(); }
  /// out, then lse, element by element: equal bits give equal numbers here.
  [[nodiscard]] std::vector<std::uint32_t> bits() const;
};

/// Results and scratch start as NaN. A case with an odd seed brings its plan.
[[nodiscard]] Written run_on(std::string_view target, const Case& one, const Inputs& inputs, int threads);

/// The reference's answer to the same numbers, in f64.
[[nodiscard]] AttentionResult run_reference(const Inputs& inputs);

}  // namespace qkv::cases
