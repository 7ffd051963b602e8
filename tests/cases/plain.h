// Attention as anyone would first write it in f32: the measure of how much rounding is fair.
#pragma once

#include <vector>

#include "cases/scores.h"

namespace qkv::cases {

struct PlainResult {
  std::vector<double> out;
  std::vector<double> lse;
};

[[nodiscard]] PlainResult run_plain(const Case& one, const Inputs& inputs, const Numbers& numbers);

/// `value` as the storage type holds it.
[[nodiscard]] float rounded(float value, DType dtype);

}  // namespace qkv::cases
