// What a GradientProbe keeps.
#pragma once

#include <optional>
#include <utility>

#include "kernels/backward_problem.h"
#include "kernels/cpu/forward.h"
#include "qkv/gradient_probe.h"

namespace qkv {

struct GradientProbe::State {
  State(kernels::BackwardProblem checked, std::optional<int> count, const kernels::cpu::Target* chosen)
      : problem(std::move(checked)), threads(count), target(chosen) {}

  kernels::BackwardProblem problem;
  std::optional<int> threads;
  const kernels::cpu::Target* target;  // null: the reference, in f64
};

}  // namespace qkv
