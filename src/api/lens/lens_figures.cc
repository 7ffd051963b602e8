#include "api/replies/rows.h"
#include "qkv/api/lens.h"

namespace qkv {
namespace {

LensLayer layer_of_lens(const LogitLens& lens, std::size_t n) {
  LensLayer layer;
  layer.layer = lens.layers[n];
  layer.logit = lens.scores[n].logit;
  layer.probability = lens.scores[n].probability;
  layer.rank = lens.scores[n].rank;
  layer.answer_probabilities = lens.probabilities.view().select(0, static_cast<std::int64_t>(n)).to_vector();
  for (const LensCell& cell : lens.said[n]) layer.said.push_back({cell.token, cell.shown, cell.probability});
  return layer;
}

LensParts parts_of_logit(const LensReport& report) {
  const LogitParts& parts = *report.parts;
  LensParts shown;
  shown.logit = parts.logit;
  shown.sum = parts.sum();
  shown.input = parts.embedding;
  shown.last_biases = parts.constant;
  shown.against = report.against;
  for (const LayerParts& layer : parts.layers) {
    shown.layers.push_back({layer.heads, layer.cross, layer.bias, layer.feed_forward});
  }
  shown.keys = api_detail::rows_of_matrices(parts.keys);
  if (parts.cross_keys.empty()) return shown;
  shown.cross_key_tokens = report.cross_keys;
  shown.cross_keys = api_detail::rows_of_matrices(parts.cross_keys);
  return shown;
}

}  // namespace

LensFigures lens_figures(const LensReport& report, const std::string& model) {
  const LogitLens& lens = report.lens;
  LensFigures figures;
  figures.model = model;
  figures.tokens = lens.tokens;
  figures.sources = lens.sources;
  figures.place = lens.place;
  figures.answer = lens.answer;
  figures.is_expected = lens.is_expected;
  for (std::size_t n = 0; n < lens.layers.size(); ++n) figures.layers.push_back(layer_of_lens(lens, n));
  if (report.parts) figures.parts = parts_of_logit(report);
  return figures;
}

Members<LensToken> describe(const LensToken* /*type*/) {
  return Members<LensToken>("LensToken")
      .add(&LensToken::token, "token", "Its number")
      .add(&LensToken::piece, "piece", "As people read it")
      .add(&LensToken::probability, "probability", "Of it, there");
}

Members<LensLayer> describe(const LensLayer* /*type*/) {
  using L = LensLayer;
  return Members<L>("LensLayer")
      .add(&L::layer, "layer", "input, which block 0 reads, then the number of the block whose output is read")
      .add(&L::logit, "logit", "Of the answer at the place")
      .add(&L::probability, "probability", "Likewise")
      .add(&L::rank, "rank", "Likewise; 1 is the likeliest")
      .add(&L::answer_probabilities, "answer_probabilities", "The answer's at each place")
      .add(&L::said, "said", "The likeliest token at each place");
}

Members<LensLayerParts> describe(const LensLayerParts* /*type*/) {
  using P = LensLayerParts;
  return Members<P>("LensLayerParts")
      .add(&P::heads, "heads", "What each head of self-attention adds")
      .add_if_there(&P::cross, "cross", "Likewise of cross-attention")
      .add(&P::biases, "biases", "Of their output maps, and of norms after them")
      .add(&P::feed_forward, "feed_forward", "What the feed-forward layer adds");
}

Members<LensParts> describe(const LensParts* /*type*/) {
  using P = LensParts;
  return Members<P>("LensParts")
      .add(&P::logit, "logit", "That the model computed, or a difference of two")
      .add(&P::sum, "sum", "Of all parts")
      .add(&P::input, "input", "What the embedding adds")
      .add(&P::last_biases, "last_biases", "Of the last norm and of the output map")
      .add_if_there(&P::against, "against", "The token whose logit is taken off")
      .add(&P::layers, "layers", "What each layer adds")
      .add(&P::keys, "keys", "What each head reads from each key, layer by layer")
      .add_if_there(&P::cross_key_tokens, "cross_key_tokens", "The keys of cross-attention")
      .add_if_there(&P::cross_keys, "cross_keys", "What is read from them, as keys");
}

Members<LensFigures> describe(const LensFigures* /*type*/) {
  using F = LensFigures;
  return Members<F>("LensFigures")
      .add(&F::model, "model", "Whose layers")
      .add(&F::tokens, "tokens", "The text")
      .add_if_there(&F::sources, "sources",
                    "Of each token of a conversation: template, or its message's role (user, assistant, …)")
      .add(&F::place, "place", "Where it is looked at")
      .add(&F::answer, "answer", "The token that is asked for")
      .add(&F::is_expected, "is_expected", "Whether the task, or the text, has it there")
      .add(&F::layers, "layers", "From the input up")
      .add(&F::parts, "parts", "What adds up to the logit; null where the residual stream is no such sum")
      .add_cautions();
}

}  // namespace qkv
