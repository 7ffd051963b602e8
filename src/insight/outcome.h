// What a pass over a text comes to: scores of tokens, states, or a picture and a text as vectors.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "qkv/insight/heads.h"
#include "qkv/model/embed.h"

namespace qkv::insight {

enum class Outcome : std::uint8_t {
  scores,   // [T, vocabulary]
  states,   // [T, d], of an encoder without an output map
  classes,  // [1, classes], of an encoder of images that tells some apart
  pair,     // [2, d]: the picture's vector and the text's, of two towers
};
[[nodiscard]] Outcome outcome_of(const Model& model);
/// Whether it is rows of scores, of tokens or of classes.
[[nodiscard]] constexpr bool is_said(Outcome outcome) {
  return outcome == Outcome::scores || outcome == Outcome::classes;
}

/// The names under which a trace has it.
[[nodiscard]] std::vector<std::string> outcome_names(const Model& model);
/// What these values, those of outcome_names(), have of one text of their batch, in f64. Throws Error unless it is
/// numbers.
[[nodiscard]] Tensor outcome_in(const Model& model, std::span<const Tensor> values, std::int64_t row);
/// What a pass over one text left in a trace that keeps them.
[[nodiscard]] Tensor outcome_left(const Model& model, const Trace& trace);
/// Runs the text with such a trace.
[[nodiscard]] Tensor run_outcome(const Model& model, const HeadText& text, Trace& trace);

/// Of states before and after: of each token, and of the texts' vectors.
struct StateCosines {
  std::vector<double> states;
  double vector = 0;
};
[[nodiscard]] StateCosines cosines_of(const Tensor& before, const Tensor& after, const EmbedOptions& vectors);
/// Of the two vectors of a pair.
[[nodiscard]] double cosine_of_pair(const Tensor& pair);

/// The attention of the stack that says something: that of tokens, or of an image's patches.
[[nodiscard]] SiteScope said_scope(const Model& model);

/// Where a trace has the residual stream of a stack: what block 0 reads, and each block's output.
[[nodiscard]] std::vector<std::string> stream_names(const SiteScope& scope);

/// Where a trace has the scores of the vocabulary, [B, T, vocabulary], or of classes, [B, classes].
[[nodiscard]] std::string logits_name(const Model& model);

}  // namespace qkv::insight
