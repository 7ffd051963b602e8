#include <algorithm>

#include "api/replies/rows.h"
#include "qkv/api/match.h"

namespace qkv {
namespace {

// The largest of each row of the scores.
std::vector<std::int64_t> best_in_rows(const TensorView& scores) {
  std::vector<std::int64_t> best;
  for (const std::vector<double>& row : api_detail::rows_of_matrix(scores)) {
    best.push_back(std::ranges::max_element(row) - row.begin());
  }
  return best;
}

}  // namespace

MatchFigures match_figures(const MatchRequest& request, const MatchFound& found) {
  const PairMatch& match = found.match;
  MatchFigures figures;
  figures.model = request.model;
  figures.loss = name_of(found.loss);
  figures.images = found.question.names;
  figures.captions = found.question.captions;
  figures.cosines = api_detail::rows_of_matrix(match.cosines);
  figures.logits = api_detail::rows_of_matrix(match.scores);
  figures.probabilities = api_detail::rows_of_matrix(match.probabilities);
  figures.best_caption = best_in_rows(match.scores);
  figures.best_image = best_in_rows(match.scores.view().transpose(0, 1));
  const Explained how = request.numbers.value_or(true) ? Explained::in_numbers : Explained::as_shown;
  if (request.maps) figures.explanation = explained(found.explanation, how);
  return figures;
}

Members<MatchFigures> describe(const MatchFigures* /*type*/) {
  using F = MatchFigures;
  return Members<F>("MatchFigures")
      .add(&F::model, "model", "The two towers")
      .add(&F::loss, "loss", "That they learned by: softmax or sigmoid")
      .add(&F::images, "images", "The files")
      .add(&F::captions, "captions", "The texts")
      .add(&F::cosines, "cosines", "A row for each image, as logits and probabilities have")
      .add(&F::logits, "logits", "Of each pair")
      .add(&F::probabilities, "probabilities", "By softmax: that each text is the one of the image; else of each pair")
      .add(&F::best_caption, "best_caption", "Of each image, from 0")
      .add(&F::best_image, "best_image", "Of each caption, from 0")
      .add_if_there(&F::explanation, "explanation", "What each cosine rests on; without `maps` left out")
      .add_cautions();
}

}  // namespace qkv
