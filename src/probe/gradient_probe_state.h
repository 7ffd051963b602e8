// The state of a GradientProbe.
#pragma once

#include <optional>
#include <utility>

#include "kernels/backward_problem.h"
#include "kernels/cpu/forward.h"
#include "kernels/lse_rows.h"
#include "qkv/gradient_probe.h"

namespace qkv {

struct GradientProbe::State {
  State(kernels::BackwardProblem checked, std::optional<int> count, const kernels::cpu::Target* chosen)
      : problem(std::move(checked)), lse(problem.problem, problem.lse), threads(count), target(chosen) {}

  kernels::BackwardProblem problem;
  kernels::LseRows lse;
  std::optional<int> threads;
  const kernels::cpu::Target* target;  // null: the reference, in f64
};

}  // namespace qkv
