// Two models on one text: how far their answers are apart, and in which layers that begins.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/model/text_model.h"

namespace qkv {

/// A token of the text and what both models say behind it.
struct ComparedPlace {
  std::int64_t place = 0;
  std::string before = {};    // the end of what they have read, for people
  std::string expected = {};  // the token that follows
  std::string a = {};         // the likeliest one
  std::string b = {};
  double divergence = 0;  // KL(a || b) of their probabilities, in nats
};

/// The residual stream behind a layer: |b - a| / |a| of each token.
struct ComparedLayer {
  std::string layer = {};  // "input", which block 0 reads, then "0", … of each block's output
  double error = 0;        // its mean over the tokens
  double worst = 0;        // its largest
  std::int64_t place = 0;  // where that is
  std::string token = {};  // the token there
};

struct ModelComparison {
  std::int64_t tokens = 0;     // of the text
  std::int64_t predicted = 0;  // of them, those that a model has said something about: all but the first of a window
  double divergence = 0;       // mean KL(a || b), in nats
  double agreement = 0;        // share of places where the likeliest token is the same
  double perplexity_a = 0;     // exp of the mean of -log p of the token that follows
  double perplexity_b = 0;
  std::vector<ComparedPlace> worst = {};   // by divergence, the largest first, at most five
  std::vector<ComparedLayer> layers = {};  // from the input up; empty where the two have other layers or widths
};

struct CompareOptions {
  std::int64_t window = 512;                  // tokens that are read at once, from nothing
  std::optional<DType> dtype = std::nullopt;  // into which weights are copied, and that both compute in
  std::function<void(std::int64_t done, std::int64_t all)> progress = {};  // tokens that were read
};

/// Reads the text in windows that do not overlap, with the tokens around it that the tokenizer puts there. Scores, and
/// the states of each layer, of one window are in memory. Throws InvalidArgument naming a or b for a model that does
/// not go on with texts, b for one that cuts the text otherwise, text for one of fewer than two tokens, and window if
/// it is below 2; Error for scores that are not finite.
[[nodiscard]] ModelComparison compare_models(const TextModel& a, const TextModel& b, std::string_view text,
                                             const CompareOptions& options = {});

}  // namespace qkv
