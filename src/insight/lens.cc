#include "qkv/insight/lens.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/said_of.h"
#include "core/watched.h"
#include "insight/asked_text.h"
#include "insight/outcome.h"
#include "insight/question.h"
#include "insight/text_batch.h"
#include "model/require_finite.h"
#include "qkv/softmax.h"

namespace qkv {
namespace {

void require_tokens(const TextModel& trained) {
  if (insight::outcome_of(trained.model()) == insight::Outcome::scores) return;
  throw InvalidArgument("logit_lens", "model", "one that says tokens",
                        trained.traits().is_pair ? "two towers" : "one that gives states alone");
}

// The scores [T, vocabulary] that each state would give.
std::vector<Tensor> scores_by_layer(const Model& model, const HeadText& text) {
  const SiteScope scope = *model.scope_of(AttentionSite::tokens);
  const std::vector<std::string> names = insight::stream_names(scope);
  Trace unchanged(names);
  insight::run_text(model, text, unchanged);
  std::vector<Tensor> all;
  for (const std::string& name : names) {
    Trace trace({insight::logits_name(model)});
    trace.edit(names.back(), [state = Variable(unchanged[name])](const Variable& /*last*/) { return state; });
    insight::run_text(model, text, trace);
    const Tensor& scores = all.emplace_back(trace[insight::logits_name(model)].view().select(0, 0), DType::f64);
    require_numbers(model, insight::kQuestion, "the scores after " + name, scores.values<double>());
  }
  return all;
}

LogitLens lens_of(const TextModel& trained, const insight::ReadText& read, const std::vector<Tensor>& scores,
                  std::int32_t answer) {
  LogitLens lens{.tokens = read.tokens, .layers = {"input"}, .place = read.place};
  lens.answer = insight::shown_token_of(trained, answer);
  lens.is_expected = read.expected == answer;
  lens.probabilities = Tensor(DType::f64, {std::ssize(scores), scores.front().dim(0)});
  for (std::int64_t n = 0; n < std::ssize(scores); ++n) {
    if (n > 0) lens.layers.push_back(fmt::format("{}", n - 1));
    std::vector<LensCell>& row = lens.said.emplace_back();
    for (std::int64_t t = 0; t < scores.front().dim(0); ++t) {
      core::look();
      const std::vector<double> logits = scores[static_cast<std::size_t>(n)].view().select(0, t).to_vector();
      const std::vector<double> probabilities =
          softmax(scores[static_cast<std::size_t>(n)].view().select(0, t), -1).to_vector();
      const std::int32_t token = insight::likeliest(trained, logits);
      row.push_back({token, insight::shown_token_of(trained, token), probabilities[static_cast<std::size_t>(token)]});
      lens.probabilities.set({n, t}, probabilities[static_cast<std::size_t>(answer)]);
      if (t == read.place) lens.scores.push_back(insight::score_of(logits, probabilities, answer));
    }
  }
  return lens;
}

// The question with all that both looks need.
struct LookedAt {
  insight::ReadText read;
  std::vector<Tensor> scores;
  std::int32_t answer = 0;
};

LookedAt looked_at(const TextModel& trained, const TextQuestion& question) {
  require_tokens(trained);
  insight::ReadText read = insight::read_question(trained, question);
  std::vector<Tensor> scores =
      core::said_of(insight::kQuestion, "text", [&] { return scores_by_layer(trained.model(), read.text); });
  const std::int32_t answer =
      insight::answer_to(trained, question, read, scores.back().view().select(0, read.place).to_vector());
  return {std::move(read), std::move(scores), answer};
}

std::vector<std::string> cross_keys_of(const TextModel& trained, const HeadText& text, std::int64_t count) {
  std::vector<std::string> keys;
  for (const std::int64_t id : text.source) {
    keys.push_back(shown_token(trained.source_tokenizer(), static_cast<std::int32_t>(id)));
  }
  while (std::ssize(keys) < count) keys.push_back(fmt::format("patch {}", keys.size()));
  return keys;
}

}  // namespace

LogitLens logit_lens(const TextModel& trained, const TextQuestion& question) {
  const LookedAt at = looked_at(trained, question);
  return lens_of(trained, at.read, at.scores, at.answer);
}

LensReport lens_report(const TextModel& trained, const TextQuestion& question) {
  const LookedAt at = looked_at(trained, question);
  LensReport report{.lens = lens_of(trained, at.read, at.scores, at.answer), .keys = at.read.tokens};
  std::optional<std::int32_t> against;
  if (question.against) {
    against = insight::token_named(trained, "against", *question.against);
    report.against = insight::shown_token_of(trained, *against);
  }
  try {
    report.parts = logit_parts(trained.model(), at.read.text, at.read.place, at.answer, against);
  } catch (const InvalidArgument& error) {
    if (error.argument() != "model") throw;
    return report;
  }
  if (!report.parts->cross_keys.empty()) {
    report.cross_keys = cross_keys_of(trained, at.read.text, report.parts->cross_keys.dim(2));
  }
  return report;
}

}  // namespace qkv
