// Beam search: the likeliest texts are followed at once.
#pragma once

#include "qkv/model/generate.h"

namespace qkv::generation {

/// generate() for options.beams > 1. Candidates of a step are the (1 + ends) * beams likeliest, at least twice the
/// beams; a text that ends counts if it is among the first `beams` of them. It stops where no open beam, divided by the
/// length that it has, is better than the worst of `beams` whole texts (`transformers`' early_stopping=False).
[[nodiscard]] NewTokens search_beams(const TensorView& prompt, const GenerateOptions& options, const NextScores& scores,
                                     const KeepRows& keep);

}  // namespace qkv::generation
