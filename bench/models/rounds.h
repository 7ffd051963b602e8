#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "qkv/tensor.h"

namespace model_rounds {

using Round = std::function<qkv::Tensor()>;

/// Tokens that no draw decides, so that every program reads the same ones.
std::vector<std::int64_t> prompt_ids(std::int64_t tokens, std::int64_t vocabulary);
/// Lengths of eight prompts, from an eighth of `longest` to all of it.
std::vector<std::int64_t> unequal_lengths(std::int64_t longest);

/// A round for each line of standard input, answered by {"seconds": …, "processor": …}. A line that is not empty names
/// a file to which the result of the round is written.
void serve(const Round& round);

}  // namespace model_rounds
