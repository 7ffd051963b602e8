// Saying the most likely token, again and again.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "qkv/autograd/variable.h"

namespace qkv {

struct GreedyOptions {
  std::int64_t last = 0;   // the token that ends a text
  std::int64_t most = 64;  // tokens said, at most
};

/// Reads on: scores [B, 1, vocabulary] of the token after the last of ids [B, T], which come after those of the calls
/// before.
using NextScores = std::function<Variable(const TensorView& ids)>;

/// Goes on from prompt [B, T] of i64, T > 0: what follows in each text, up to but without `last`. Of equal scores the
/// first token wins. Throws InvalidArgument naming prompt or most.
[[nodiscard]] std::vector<std::vector<std::int64_t>> greedy(const TensorView& prompt, const GreedyOptions& options,
                                                            const NextScores& scores);

}  // namespace qkv
