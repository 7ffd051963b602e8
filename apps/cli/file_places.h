// That what a command writes is none of what it reads, and can be written at all.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "qkv/view/problem.h"

namespace qkv::cli {

/// An option and the tensor path that it was given; empty where it was not.
using OptionPath = std::pair<std::string, const std::string*>;

/// The files that load_problem() reads.
[[nodiscard]] std::vector<OptionPath> inputs_of(const ProblemRequest& request);

/// Throws CLI::ParseError if two outputs would lie in the same place or one in an input's, and what
/// require_writable_tensors() throws.
void check_places(const std::vector<OptionPath>& read, const std::vector<OptionPath>& written);

}  // namespace qkv::cli
