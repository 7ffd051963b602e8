// Writing a text on, token by token: the most likely one, or one that is drawn.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "qkv/autograd/variable.h"

namespace qkv {

struct GenerateOptions {
  std::optional<std::int64_t> end = std::nullopt;     // the token that ends a text
  std::int64_t most = 64;                             // new tokens of a text, at most
  double temperature = 0;                             // probabilities to the power 1 / temperature; 0: the most likely
  std::uint64_t seed = 0;                             // of the draws
  std::vector<std::int64_t> never = {};               // tokens that are not written
  std::optional<std::int64_t> window = std::nullopt;  // tokens that a decoder without a context sees: the last ones
  std::optional<DType> dtype = std::nullopt;          // that a model computes in, as ModelCall says
};

/// New tokens of each text, without those of the prompt and without the end.
using NewTokens = std::vector<std::vector<std::int64_t>>;

/// Reads on: scores [B, 1, vocabulary] of the token after the last of ids [B, T], which come after those of the calls
/// before.
using NextScores = std::function<Variable(const TensorView& ids)>;

/// Goes on from prompt [B, T] of i64 or i32, T > 0. Of equal scores the first token wins. Nothing is recorded. Throws
/// InvalidArgument naming prompt, or the option that has no meaning.
[[nodiscard]] NewTokens generate(const TensorView& prompt, const GenerateOptions& options, const NextScores& scores);

}  // namespace qkv
