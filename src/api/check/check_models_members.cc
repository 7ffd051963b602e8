#include "qkv/api/check_models.h"

namespace qkv {

Members<ComparedPlace> describe(const ComparedPlace* /*type*/) {
  using P = ComparedPlace;
  return Members<P>("ComparedPlace")
      .add(&P::place, "place", "The last token that was read")
      .add(&P::before, "before", "The tokens up to there, the last eight")
      .add(&P::expected, "expected", "The token that follows in the text")
      .add(&P::a, "a", "The token that A finds likeliest there")
      .add(&P::b, "b", "The token that B finds likeliest there")
      .add(&P::divergence, "divergence", "KL(A || B) of their probabilities, in nats");
}

Members<ComparedLayer> describe(const ComparedLayer* /*type*/) {
  using L = ComparedLayer;
  return Members<L>("ComparedLayer")
      .add(&L::layer, "layer", "input, which block 0 reads, then the number of the block whose output is compared")
      .add(&L::error, "error", "|B - A| / |A| of a token's residual stream, its mean over the tokens")
      .add(&L::worst, "worst", "The largest of a token")
      .add(&L::place, "place", "Which token that is")
      .add(&L::token, "token", "The token, as people read it");
}

Members<CheckModelsFigures> describe(const CheckModelsFigures* /*type*/) {
  using F = CheckModelsFigures;
  return Members<F>("CheckModelsFigures")
      .add(&F::a, "a", "The model that is right")
      .add(&F::b, "b", "The one that is compared with it")
      .add_if_there(&F::weights_a, "weights_a", "How A computes with quantised weights, if `dtype` is file")
      .add_if_there(&F::weights_b, "weights_b", "Likewise B")
      .add(&F::tokens, "tokens", "Of the text")
      .add(&F::predicted, "predicted", "Of them, those that a model has predicted: all but the first of a window")
      .add(&F::divergence, "divergence", "Mean KL(A || B) of their probabilities, in nats")
      .add(&F::worst_divergence, "worst_divergence", "The largest")
      .add(&F::agreement, "agreement", "Share of places where both find the same token likeliest")
      .add(&F::perplexity_a, "perplexity_a", "exp of the mean of -log p of the token that follows, of A")
      .add(&F::perplexity_b, "perplexity_b", "Of B")
      .add(&F::worst, "worst", "The places with the largest divergence, at most five")
      .add(&F::layers, "layers", "From the input up; empty where the two have other layers or widths")
      .add_if_there(&F::worst_layer, "worst_layer", "The layer with the largest mean error")
      .add_cautions();
}

}  // namespace qkv
