#include "qkv/insight/lens.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/watched.h"
#include "insight/asked_text.h"
#include "insight/logit_parts.h"
#include "insight/outcome.h"
#include "insight/question.h"
#include "insight/score_rows.h"
#include "insight/text_batch.h"
#include "model/require_finite.h"

namespace qkv {
namespace {

void require_tokens(const TextModel& trained) {
  if (insight::is_said(insight::outcome_of(trained.model()))) return;
  throw InvalidArgument("logit_lens", "model", "one that says tokens or classes",
                        trained.traits().is_pair ? "two towers" : "one that gives states alone");
}

// A text's pass, with the stream after each layer, and the question with all that both looks need.
struct LookedAt {
  insight::ReadText read;
  Trace trace;
  bool has_parts = false;
  std::int32_t answer = 0;
};

enum class Parts : std::uint8_t { with, without };

// [T, vocabulary] of the one text, or [1, classes].
TensorView rows_said(const TensorView& scores) {
  return scores.rank() == 2 ? scores.slice(0, 0, 1) : scores.select(0, 0);
}

LookedAt looked_at(const TextModel& trained, const TextQuestion& question, Parts parts) {
  require_tokens(trained);
  const Model& model = trained.model();
  const SiteScope scope = insight::said_scope(model);
  std::vector<std::string> names = insight::stream_names(scope);
  names.push_back(insight::logits_name(model));
  const bool with_parts = parts == Parts::with && insight::why_no_parts(model) == nullptr;
  if (with_parts) {
    for (std::string& name : insight::names_of_parts(scope)) names.push_back(std::move(name));
  }
  LookedAt at{.read = insight::read_question(trained, question), .trace = Trace(names), .has_parts = with_parts};
  insight::run_text(model, at.read.text, at.trace);
  const Tensor logits = at.trace[insight::logits_name(model)];
  const std::vector<double> scores = rows_said(logits).select(0, at.read.place).to_vector();
  require_numbers(model, insight::kQuestion, "the scores of the text", scores);
  at.answer = insight::answer_to(trained, question, at.read, scores);
  return at;
}

// [T, vocabulary]: what the state after each layer would give; behind the last one, what the pass gave.
Variable scores_after(const Model& model, const Trace& trace, const std::string& name, const std::string& last) {
  const NoGradient constant;
  if (name == last) return Variable(trace[insight::logits_name(model)]);
  return model.read_out(Variable(trace[name]), {.dtype = model.dtype()});
}

LogitLens lens_of(const TextModel& trained, const LookedAt& at) {
  const Model& model = trained.model();
  const insight::ReadText& read = at.read;
  const std::vector<std::string> names = insight::stream_names(insight::said_scope(model));
  const auto T = std::ssize(read.tokens);
  LogitLens lens{.tokens = read.tokens, .sources = read.sources, .layers = {"input"}, .place = read.place};
  lens.answer = insight::shown_token_of(trained, at.answer);
  lens.is_expected = read.expected == at.answer;
  lens.probabilities = Tensor(DType::f64, {std::ssize(names), T});
  for (std::int64_t n = 0; n < std::ssize(names); ++n) {
    core::look();
    if (n > 0) lens.layers.push_back(fmt::format("{}", n - 1));
    const std::string& name = names[static_cast<std::size_t>(n)];
    const Variable scores = scores_after(model, at.trace, name, names.back());
    const TensorView said = rows_said(scores.value());
    const insight::ScoreRows rows(said, trained.traits().sees ? said.dim(1) : trained.tokenizer().size());
    if (!rows.are_numbers()) fail_not_finite(model, insight::kQuestion, "the scores after " + name);
    std::vector<LensCell>& row = lens.said.emplace_back();
    for (std::int64_t t = 0; t < rows.size(); ++t) {
      const std::int32_t token = rows.likeliest(t);
      row.push_back({token, insight::shown_token_of(trained, token), rows.share(t, token)});
      lens.probabilities.set({n, t}, rows.share(t, at.answer));
    }
    lens.scores.push_back(rows.score(read.place, at.answer));
  }
  return lens;
}

std::vector<std::string> cross_keys_of(const TextModel& trained, const HeadText& text, std::int64_t count) {
  std::vector<std::string> keys;
  for (const std::int64_t id : text.source) {
    keys.push_back(shown_token(trained.source_tokenizer(), static_cast<std::int32_t>(id)));
  }
  if (!text.sound.empty()) keys = insight::times_of(trained);
  while (std::ssize(keys) < count) keys.push_back(fmt::format("patch {}", keys.size()));
  return keys;
}

}  // namespace

LogitLens logit_lens(const TextModel& trained, const TextQuestion& question) {
  return lens_of(trained, looked_at(trained, question, Parts::without));
}

LensReport lens_report(const TextModel& trained, const TextQuestion& question) {
  const LookedAt at = looked_at(trained, question, Parts::with);
  LensReport report{.lens = lens_of(trained, at), .keys = at.read.tokens};
  std::optional<std::int32_t> against;
  if (question.against) {
    against = insight::contrast_named(trained, *question.against, at.answer);
    report.against = insight::shown_token_of(trained, *against);
  }
  if (!at.has_parts) return report;
  report.parts = insight::parts_in_pass(trained.model(), at.trace, at.read.place, at.answer, against);
  if (!report.parts->cross_keys.empty()) {
    report.cross_keys = cross_keys_of(trained, at.read.text, report.parts->cross_keys.dim(2));
  }
  return report;
}

}  // namespace qkv
