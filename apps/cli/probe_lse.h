// The lse that qkv probe is given: read, and held against what the other options give.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attend_problem.h"

namespace qkv::cli {

/// [B, Hq, Tq] of the file; empty() where there is none. Throws CLI::ParseError for another shape or type.
[[nodiscard]] Tensor load_lse(const std::string& path, const AttendProblem& problem);

/// Computes the lse of some rows of each head again: all where they are few, else sixteen from the first to the last.
/// Throws CLI::ParseError naming the file, the row, what was expected and what came where they differ by more than two
/// computations of it can.
void check_lse(const std::string& path, const Tensor& lse, const AttendProblem& problem, std::int64_t b,
               const std::vector<std::int64_t>& heads);

}  // namespace qkv::cli
