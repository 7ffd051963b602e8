// What interventions do over many texts.
#include <algorithm>
#include <numeric>

#include "core/watched.h"
#include "insight/outcome.h"
#include "insight/question.h"
#include "qkv/insight/change.h"
#include "qkv/softmax.h"

namespace qkv {
namespace {

// Sums over the targets of one text.
struct Said {
  double loss = 0;
  double right = 0;
};

Said said_of_text(const HeadText& text, const Tensor& scores) {
  Said said;
  for (std::int64_t t = 0; t < scores.dim(0); ++t) {
    const auto at = static_cast<std::size_t>(t);
    const std::int64_t target = text.targets[at];
    if (target < 0) continue;
    core::look();
    const TensorView row = scores.view().select(0, t);
    said.loss -= log_softmax(row, -1).at({target});
    const std::vector<double> all = row.to_vector();
    const bool is_right = std::ranges::max_element(all) - all.begin() == target;
    if (is_right && (text.scored.empty() || text.scored[at])) ++said.right;
  }
  return said;
}

std::int64_t scored_of(const HeadText& text) {
  std::int64_t count = 0;
  for (std::size_t t = 0; t < text.targets.size(); ++t) {
    if (text.targets[t] >= 0 && (text.scored.empty() || text.scored[t])) ++count;
  }
  return count;
}

void add_text(const HeadText& text, const Tensor& before, const Tensor& after, LossChange& change) {
  const Said first = said_of_text(text, before);
  const Said then = said_of_text(text, after);
  change.asked += std::ranges::count_if(text.targets, [](std::int64_t target) { return target >= 0; });
  change.scored += scored_of(text);
  change.loss_before += first.loss;
  change.loss_after += then.loss;
  change.accuracy_before += first.right;
  change.accuracy_after += then.right;
  if (then.loss > first.loss) ++change.worse;
}

}  // namespace

LossChange change_texts(const TextModel& trained, std::span<const HeadText> texts, const ChangeQuestion& question) {
  if (texts.empty()) throw InvalidArgument("change_texts", "texts", "one or more", "none");
  const Model& model = trained.model();
  const insight::Outcome outcome = insight::outcome_of(model);
  const bool says = insight::is_said(outcome);
  const std::optional<insight::ReadText> other = insight::read_other(trained, question);
  LossChange change{.texts = std::ssize(texts)};
  double state_sum = 0;
  double vector_sum = 0;
  double states = 0;
  PairChange pair;
  const std::vector<std::string> outcome_names = insight::outcome_names(model);
  Intervener intervener(model, texts.front(), other ? &other->text : nullptr, {.text = outcome_names});
  for (const HeadText& text : texts) {
    if (says && text.targets.empty()) continue;
    intervener.turn_to(text);
    Trace trace(outcome_names);
    intervener.add(question.interventions, trace);
    const Tensor before = insight::outcome_left(model, intervener.unchanged());
    const bool is_changed = !question.interventions.empty();
    const Tensor after = is_changed ? insight::run_outcome(model, text, trace) : before;
    if (says) {
      add_text(text, before, after, change);
      continue;
    }
    if (outcome == insight::Outcome::pair) {
      pair.before += insight::cosine_of_pair(before) / static_cast<double>(texts.size());
      pair.after += insight::cosine_of_pair(after) / static_cast<double>(texts.size());
      continue;
    }
    const insight::StateCosines cosines = insight::cosines_of(before, after, question.vectors);
    state_sum = std::accumulate(cosines.states.begin(), cosines.states.end(), state_sum);
    states += static_cast<double>(cosines.states.size());
    vector_sum += cosines.vector;
  }
  if (outcome == insight::Outcome::pair) {
    change.pair = pair;
    return change;
  }
  if (!says) {
    change.state_cosine = state_sum / states;
    change.vector_cosine = vector_sum / static_cast<double>(texts.size());
    return change;
  }
  if (change.asked == 0) {
    throw InvalidArgument("change_texts", "texts", "a text that asks the model for a token", "none that does");
  }
  for (double* sum : {&change.loss_before, &change.loss_after}) *sum /= static_cast<double>(change.asked);
  for (double* sum : {&change.accuracy_before, &change.accuracy_after}) {
    *sum /= static_cast<double>(std::max<std::int64_t>(change.scored, 1));
  }
  return change;
}

}  // namespace qkv
