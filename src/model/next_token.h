// The next token of a text, out of the scores of all: penalties, what is left to draw from, the draw.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "qkv/error.h"
#include "qkv/model/generate.h"

namespace qkv::generation {

inline constexpr const char* kGenerate = "generate";

/// Scores that are no numbers, of which no token can be chosen; Model::generate() names the weight at fault.
class NotNumbers : public Error {
 public:
  using Error::Error;
};
/// Throws NotNumbers if one of the scores is NaN or infinity.
void require_numbers(std::span<const double> scores);

/// Throws InvalidArgument naming `ends` or `never` if one of their tokens is not in the vocabulary.
void require_tokens(const GenerateOptions& options, std::int64_t vocabulary);

/// Scores [V] after the penalty for the tokens of `text`; -infinity for those of options.never. Throws InvalidArgument
/// naming never if it leaves none.
void change_scores(std::span<double> scores, std::span<const std::int64_t> text, bool is_first,
                   const GenerateOptions& options);

/// The likeliest of the scores, the first of equals.
[[nodiscard]] std::int64_t likeliest(std::span<const double> scores) noexcept;

/// The token where the shares of those before it pass `draw`, in [0, 1), of all that top_k, top_p and min_p leave.
[[nodiscard]] std::int64_t drawn(std::span<const double> scores, const GenerateOptions& options, double draw);

}  // namespace qkv::generation
