#include <fmt/format.h>

#include "api/replies/rows.h"
#include "qkv/api/change.h"

namespace qkv {
namespace {

ChangeAsked asked_of(const ChangeQuestion& question, const std::string& model) {
  ChangeAsked asked{.model = model,
                    .interventions = {},
                    .from_text = question.from_text,
                    .from_example = question.from_example,
                    .cautions = {}};
  for (const Intervention& one : question.interventions) asked.interventions.push_back(to_string(one));
  return asked;
}

ChangeScore figure_of(const TokenScore& score) { return {score.logit, score.probability, score.rank}; }

ChangedToken figure_of(const TokenChange& token) {
  return {token.token, token.shown, figure_of(token.before), figure_of(token.after)};
}

std::vector<ChangedToken> figures_of(const std::vector<TokenChange>& tokens) {
  std::vector<ChangedToken> all;
  for (const TokenChange& token : tokens) all.push_back(figure_of(token));
  return all;
}

std::optional<BeforeAndAfter> figure_of(const std::optional<PairChange>& pair) {
  if (!pair) return std::nullopt;
  return BeforeAndAfter{.before = pair->before, .after = pair->after};
}

std::string sentence_of(const TextChange& change) {
  if (change.answer) {
    const TokenChange& answer = *change.answer;
    return fmt::format("“{}” at “{}”: {:.4f} before, {:.4f} after.", answer.shown,
                       change.tokens[static_cast<std::size_t>(change.place)], answer.before.probability,
                       answer.after.probability);
  }
  if (change.vector_cosine) {
    return fmt::format("The text's vector before and after: cosine {:.4f}.", *change.vector_cosine);
  }
  if (change.pair) {
    return fmt::format("Picture and text: cosine {:.4f} before, {:.4f} after.", change.pair->before,
                       change.pair->after);
  }
  return {};
}

}  // namespace

ChangeFigures change_figures(const TextChange& change, const ChangeQuestion& question, const std::string& model) {
  ChangeFigures figures;
  static_cast<ChangeAsked&>(figures) = asked_of(question, model);
  figures.tokens = change.tokens;
  figures.from_tokens = change.from;
  figures.place = change.place;
  figures.sentence = sentence_of(change);
  figures.cosine = figure_of(change.pair);
  if (change.pair) return figures;
  if (!change.answer) {
    figures.state_cosines = change.state_cosines;
    figures.vector_cosine = change.vector_cosine;
    return figures;
  }
  figures.answer = figure_of(*change.answer);
  figures.is_expected = change.is_expected;
  if (change.against) figures.against = figure_of(*change.against);
  figures.moved = figures_of(change.moved);
  figures.risen = figures_of(change.risen);
  figures.fallen = figures_of(change.fallen);
  figures.divergence = change.divergence;
  return figures;
}

ChangeOfTexts change_figures(const LossChange& change, const ChangeQuestion& question, const std::string& model) {
  ChangeOfTexts figures;
  static_cast<ChangeAsked&>(figures) = asked_of(question, model);
  figures.texts = change.texts;
  figures.cosine = figure_of(change.pair);
  if (change.pair) return figures;
  figures.vector_cosine = change.vector_cosine;
  figures.state_cosine = change.state_cosine;
  if (change.vector_cosine) return figures;
  figures.asked = change.asked;
  figures.scored = change.scored;
  figures.loss = {.before = change.loss_before, .after = change.loss_after};
  figures.accuracy = {.before = change.accuracy_before, .after = change.accuracy_after};
  figures.worse = change.worse;
  return figures;
}

SweepFigures sweep_figures(const Sweep& sweep, const ChangeQuestion& question, const std::string& model) {
  SweepFigures figures;
  static_cast<ChangeAsked&>(figures) = asked_of(question, model);
  figures.measure = sweep.measure;
  figures.before = sweep.before;
  figures.other = sweep.other;
  for (const SweepMap& map : sweep.maps) {
    figures.maps.push_back({map.name, map.rows, map.columns, api_detail::rows_of_matrix(map.changes)});
  }
  return figures;
}

}  // namespace qkv
