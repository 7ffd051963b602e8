#include "qkv/insight/change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/watched.h"
#include "insight/asked_text.h"
#include "insight/outcome.h"
#include "insight/question.h"
#include "insight/removed_heads.h"
#include "insight/report_text.h"
#include "insight/text_batch.h"
#include "qkv/softmax.h"

namespace qkv {
namespace {

constexpr std::size_t kMoved = 5;

// What is said at one place, before and after.
struct Place {
  std::vector<double> before, after;  // logits
  std::vector<double> probabilities_before, probabilities_after;
};

Place place_in(const Tensor& before, const Tensor& after, std::int64_t place) {
  const auto row = [&](const Tensor& all) { return all.view().select(0, place); };
  return {row(before).to_vector(), row(after).to_vector(), softmax(row(before), -1).to_vector(),
          softmax(row(after), -1).to_vector()};
}

TokenChange change_of(const TextModel& trained, const Place& place, std::int32_t token) {
  return {.token = token,
          .shown = insight::shown_token_of(trained, token),
          .before = insight::score_of(place.before, place.probabilities_before, token),
          .after = insight::score_of(place.after, place.probabilities_after, token)};
}

// The tokens with the largest of a measure.
template <class Measure>
std::vector<TokenChange> most_by(const TextModel& trained, const Place& place, const Measure& measure) {
  std::vector<std::int32_t> order(place.before.size());
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(kMoved, order.size()));
  const auto at = [&](std::int32_t token) { return measure(static_cast<std::size_t>(token)); };
  std::ranges::partial_sort(order, end,
                            [&](std::int32_t a, std::int32_t b) { return at(a) != at(b) ? at(a) > at(b) : a < b; });
  std::vector<TokenChange> all;
  for (auto token = order.begin(); token != end; ++token) all.push_back(change_of(trained, place, *token));
  return all;
}

double divergence_of(const TensorView& before, const TensorView& after) {
  const std::vector<double> p = log_softmax(before, -1).to_vector();
  const std::vector<double> q = log_softmax(after, -1).to_vector();
  double sum = 0;
  for (std::size_t n = 0; n < p.size(); ++n) {
    if (std::exp(p[n]) > 0) sum += std::exp(p[n]) * (p[n] - q[n]);
  }
  return std::max(sum, 0.0);  // rounding
}

// What is asked beside the question's own interventions.
struct Beside {
  std::vector<std::string> names = {};     // that the pass of the text as it is leaves
  std::vector<Intervention> patches = {};  // from the other text
};

// The question, read, with what the model does before anything is changed: a pass over the text, and one over the other
// text where anything is asked of it.
class Asked {
 public:
  explicit Asked(const TextModel& trained, const ChangeQuestion& question, const Beside& beside = {})
      : trained_(trained),
        question_(question),
        read_(insight::read_question(trained, question.of)),
        outcome_(insight::outcome_of(trained.model())),
        other_(insight::read_other(trained, question)),
        intervener_(trained.model(), read_.text, other_ ? &other_->text : nullptr, kept_beside(beside)) {
    std::vector<Intervention> all = question.interventions;
    all.insert(all.end(), beside.patches.begin(), beside.patches.end());
    intervener_.prepare(all);
    before_ = insight::outcome_left(trained.model(), intervener_.unchanged());
    if (insight::is_said(outcome_)) find_tokens();
    if (trained.traits().sees && outcome_ == insight::Outcome::states) {
      read_.tokens = insight::numbers_to(before_.dim(0));  // the class token's place, and each patch's
    }
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  [[nodiscard]] const insight::ReadText& read() const { return read_; }
  [[nodiscard]] const std::optional<insight::ReadText>& other() const { return other_; }
  [[nodiscard]] const Tensor& before() const { return before_; }
  [[nodiscard]] const Trace& unchanged() const { return intervener_.unchanged(); }
  [[nodiscard]] std::int32_t answer() const { return answer_; }
  [[nodiscard]] std::optional<std::int32_t> against() const { return against_; }

  [[nodiscard]] Tensor after(std::span<const Intervention> all) {
    if (all.empty()) return before_;
    Trace trace(insight::outcome_names(trained_.model()));
    intervener_.add(all, trace);
    return insight::run_outcome(trained_.model(), read_.text, trace);
  }

  /// Scores of the other text.
  [[nodiscard]] Tensor of_other() const { return insight::outcome_left(trained_.model(), intervener_.other_run()); }

  /// The measure of sweeps, of what a pass came to.
  [[nodiscard]] double measure(const Tensor& scores) const {
    if (outcome_ == insight::Outcome::pair) return insight::cosine_of_pair(scores);
    if (outcome_ == insight::Outcome::states) return insight::cosines_of(before_, scores, question_.vectors).vector;
    const TensorView row = scores.view().select(0, read_.place);
    if (against_) return row.at({answer_}) - row.at({*against_});
    return log_softmax(row, -1).at({answer_});
  }
  [[nodiscard]] std::string measure_name() const {
    if (outcome_ == insight::Outcome::pair) return "cosine of picture and text";
    if (outcome_ == insight::Outcome::states) return "cosine of the text's vector, before and after";
    const std::string answer = insight::shown_token_of(trained_, answer_);
    if (!against_) return fmt::format("log-probability of “{}”", answer);
    return fmt::format("logit of “{}” less that of “{}”", answer, insight::shown_token_of(trained_, *against_));
  }

 private:
  [[nodiscard]] KeptOfTexts kept_beside(const Beside& beside) const {
    const std::vector<std::string> outcome = insight::outcome_names(trained_.model());
    KeptOfTexts kept{.text = beside.names};
    kept.text.insert(kept.text.end(), outcome.begin(), outcome.end());
    if (!beside.patches.empty() || is_contrasted()) kept.other = outcome;
    return kept;
  }

  // What the model says of the other text is the contrast where the question names none.
  [[nodiscard]] bool is_contrasted() const {
    return insight::is_said(outcome_) && !question_.of.against && other_ &&
           other_->text.ids.size() == read_.text.ids.size();
  }

  void find_tokens() {
    const auto row = [&](const Tensor& scores) { return scores.view().select(0, read_.place).to_vector(); };
    const TextQuestion& of = question_.of;
    answer_ = insight::answer_to(trained_, of, read_, row(before_));
    if (of.against) {
      against_ = insight::contrast_named(trained_, *of.against, answer_);
    } else if (is_contrasted()) {
      const std::int32_t said = insight::likeliest(trained_, row(of_other()));
      if (said != answer_) against_ = said;
    }
  }

  const TextModel& trained_;
  const ChangeQuestion& question_;
  insight::ReadText read_;
  insight::Outcome outcome_;
  std::optional<insight::ReadText> other_;
  Intervener intervener_;
  Tensor before_;
  std::int32_t answer_ = 0;
  std::optional<std::int32_t> against_;
};

void add_scores(const TextModel& trained, Asked& asked, const Tensor& after, TextChange& change) {
  const Place place = place_in(asked.before(), after, change.place);
  change.answer = change_of(trained, place, asked.answer());
  change.is_expected = asked.read().expected == asked.answer();
  if (asked.against()) change.against = change_of(trained, place, *asked.against());
  change.moved = most_by(trained, place, [&](std::size_t n) {
    return std::abs(place.probabilities_after[n] - place.probabilities_before[n]);
  });
  change.risen = most_by(trained, place, [&](std::size_t n) { return place.after[n] - place.before[n]; });
  change.fallen = most_by(trained, place, [&](std::size_t n) { return place.before[n] - place.after[n]; });
  for (std::int64_t t = 0; t < after.dim(0); ++t) {
    core::look();
    change.divergence.push_back(divergence_of(asked.before().view().select(0, t), after.view().select(0, t)));
  }
}

}  // namespace

TextChange change_text(const TextModel& trained, const ChangeQuestion& question) {
  Asked asked(trained, question);
  const Tensor after = asked.after(question.interventions);
  TextChange change{.tokens = asked.read().tokens, .place = asked.read().place};
  if (asked.other()) change.from = asked.other()->tokens;
  switch (insight::outcome_of(trained.model())) {
    case insight::Outcome::scores:
    case insight::Outcome::classes:
      add_scores(trained, asked, after, change);
      break;
    case insight::Outcome::states: {
      insight::StateCosines cosines = insight::cosines_of(asked.before(), after, question.vectors);
      change.state_cosines = std::move(cosines.states);
      change.vector_cosine = cosines.vector;
      break;
    }
    case insight::Outcome::pair:
      change.pair = {insight::cosine_of_pair(asked.before()), insight::cosine_of_pair(after)};
  }
  return change;
}

namespace {

RemovedHead head_of(AttentionSite site, std::int64_t layer, std::int64_t head) {
  return {{.site = site, .layer = layer, .head = head}};
}

// Each head removed beside other changes, which may lie anywhere: a whole pass each.
void sweep_beside(Asked& asked, std::span<const Intervention> others, AttentionSite site, double before,
                  Tensor& changes, const std::function<void(const std::string&)>& doing) {
  for (std::int64_t layer = 0; layer < changes.dim(0); ++layer) {
    for (std::int64_t h = 0; h < changes.dim(1); ++h) {
      std::vector<Intervention> all(others.begin(), others.end());
      all.emplace_back(head_of(site, layer, h));
      if (doing) doing(to_string(all.back()));
      changes.set({layer, h}, asked.measure(asked.after(all)) - before);
    }
  }
}

// Each head removed alone, a layer's heads side by side from that layer on.
void sweep_alone(const TextModel& trained, const Asked& asked, const insight::OwnSite& own, double before,
                 Tensor& changes, const std::function<void(const std::string&)>& doing) {
  const HeadText& text = asked.read().text;
  const std::vector<insight::TextBatch> batches = insight::batches_of(std::span(&text, 1), 1);
  for (std::int64_t layer = 0; layer < changes.dim(0); ++layer) {
    const auto told = [&](std::int64_t head, std::span<const Tensor> without, std::int64_t row) {
      if (doing) doing(to_string(Intervention(head_of(own.site, layer, head))));
      changes.set({layer, head}, asked.measure(insight::outcome_in(trained.model(), without, row)) - before);
    };
    insight::without_each_head(trained.model(), batches.front().input(), asked.unchanged(),
                               {.scope = own.scope, .layer = static_cast<std::size_t>(layer), .heads = changes.dim(1)},
                               insight::outcome_names(trained.model()), told);
  }
}

}  // namespace

Sweep sweep_heads(const TextModel& trained, const ChangeQuestion& question,
                  const std::function<void(const std::string&)>& doing) {
  const std::vector<insight::OwnSite> sites = insight::sites_of(trained.model());
  std::vector<std::string> names = insight::names_of_streams(trained.model());
  for (const insight::OwnSite& own : sites) names.push_back(own.scope.name(0, "heads"));
  Asked asked(trained, question, {.names = names});
  const bool is_alone = question.interventions.empty();
  Sweep sweep{.measure = asked.measure_name(), .before = asked.measure(asked.after(question.interventions))};
  for (const insight::OwnSite& own : sites) {
    const std::int64_t heads = asked.unchanged()[own.scope.name(0, "heads")].dim(1);
    SweepMap map{.name = std::string(name_of(own.site)), .changes = Tensor(DType::f64, {own.scope.layers, heads})};
    map.rows = insight::numbers_to(own.scope.layers);
    map.columns = insight::numbers_to(heads);
    if (is_alone) {
      sweep_alone(trained, asked, own, sweep.before, map.changes, doing);
    } else {
      sweep_beside(asked, question.interventions, own.site, sweep.before, map.changes, doing);
    }
    sweep.maps.push_back(std::move(map));
  }
  return sweep;
}

Sweep sweep_places(const TextModel& trained, const ChangeQuestion& question,
                   const std::function<void(const std::string&)>& doing) {
  if (!question.from_text && !question.from_example && question.from_messages.empty()) {
    throw InvalidArgument("sweep_places", "from_text", "the text to patch from", "none");
  }
  const SiteScope scope = insight::said_scope(trained.model());
  const std::vector<std::string> names = insight::stream_names(scope);
  Beside patched;
  for (const std::string& name : names) patched.patches.emplace_back(PatchedValue{.name = name});
  Asked asked(trained, question, patched);
  Sweep sweep{.measure = asked.measure_name(), .before = asked.measure(asked.after(question.interventions))};
  const auto T = static_cast<std::int64_t>(asked.read().tokens.size());
  SweepMap map{.name = "resid_post", .changes = Tensor(DType::f64, {std::ssize(names), T})};
  map.rows = insight::numbers_to(scope.layers);
  map.rows.insert(map.rows.begin(), "input");
  map.columns = asked.read().tokens;
  for (std::int64_t n = 0; n < std::ssize(names); ++n) {
    for (std::int64_t place = 0; place < T; ++place) {
      std::vector<Intervention> all = question.interventions;
      all.emplace_back(PatchedValue{.name = names[static_cast<std::size_t>(n)], .place = place});
      if (doing) doing(to_string(all.back()));
      map.changes.set({n, place}, asked.measure(asked.after(all)) - sweep.before);
    }
  }
  sweep.other = asked.measure(asked.of_other());
  sweep.maps.push_back(std::move(map));
  return sweep;
}

}  // namespace qkv
