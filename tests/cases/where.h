// The targets and dtypes that a test runs on.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "cases/run.h"

namespace qkv::cases {

struct Where {
  std::string target;
  DType dtype;

  friend void PrintTo(const Where& where, std::ostream* stream) {
    *stream << where.target << " in " << name_of(where.dtype);
  }
};

/// The reference and each fused target in each dtype that it serves.
inline std::vector<Where> everywhere() {
  std::vector<Where> all;
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    all.push_back({"reference", dtype});
    for (const std::string& target : targets(dtype)) all.push_back({target, dtype});
  }
  return all;
}

/// What gtest calls the tests of one Where: "avx2_f32".
inline constexpr auto kName = [](const auto& chosen) {
  return chosen.param.target + "_" + std::string(name_of(chosen.param.dtype));
};

}  // namespace qkv::cases
