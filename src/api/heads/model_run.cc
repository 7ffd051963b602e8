#include "api/heads/model_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/fields/refuse.h"
#include "api/heads/changes.h"
#include "api/heads/site_named.h"
#include "api/models/shown.h"
#include "api/probe/probe_parts.h"
#include "api/studio/question_watch.h"
#include "core/numbered.h"
#include "insight/asked_text.h"
#include "insight/outcome.h"
#include "insight/text_batch.h"
#include "model/long_text.h"
#include "qkv/explain/model.h"
#include "qkv/insight/interventions.h"

namespace qkv::api_detail {
namespace {

[[noreturn]] void refuse_tokens(const PassBounds& bounds, const std::string& got) {
  refuse("text", fmt::format("at most {} tokens; longer texts are for the page Far", bounds.tokens), got);
}

ShownFields fields_of(const ShownText& shown) {
  ShownFields fields{.example = shown.example, .picture = shown.picture, .sound = shown.sound, .talk = &shown.talk};
  if (!shown.text.empty()) fields.text = shown.text;
  return fields;
}

ReadExample example_shown(const TextModel& trained, const ShownText& shown, const PassBounds& bounds) {
  const auto seen =
      of_field("text", [&] { return model_detail::seen_to_be_longer(trained.reader(), shown.text, bounds.tokens); });
  if (seen) refuse_tokens(bounds, *seen);
  Shown read = shown_of(trained, fields_of(shown), PassKeeps::layers_and_scores);
  return shown_example(trained, question_about(shown.model, std::move(read)));
}

std::vector<RunSite> sites_of(const Model& model, const HeadText& text) {
  std::vector<RunSite> sites;
  for (const auto& [site, scope] : insight::sites_run(model, text)) {
    sites.push_back({.site = site, .scope = scope, .queries = {}, .keys = {}});
  }
  return sites;
}

std::vector<std::string> patterns_of(const std::vector<RunSite>& sites) {
  std::vector<std::string> patterns;
  for (const RunSite& site : sites) {
    for (std::int64_t layer = 0; layer < site.scope.layers; ++layer) {
      patterns.push_back(site.scope.name(static_cast<std::size_t>(layer)));
    }
  }
  return patterns;
}

// Places of the longer of the two sides.
std::int64_t tokens_of(const HeadText& text) {
  return std::ssize(text.ids.size() > text.source.size() ? text.ids : text.source);
}

void require_within(const PassBounds& bounds, const TextModel& trained, std::int64_t tokens) {
  if (tokens > bounds.tokens) refuse_tokens(bounds, std::to_string(tokens));
  require_pass_within(bounds.bytes, "text", trained, tokens);
}

}  // namespace

ModelRun::ModelRun(std::shared_ptr<const TextModel> trained, const ShownText& shown, const PassBounds& bounds)
    : trained_(std::move(trained)),
      shown_(example_shown(*trained_, shown, bounds)),
      text_(insight::head_text_of(*trained_, shown_.example)),
      trace_(std::vector<std::string>{}) {
  if (!shown.second.empty()) {
    PairedText paired = paired_text(*trained_, shown);
    text_ = std::move(paired.text);
    second_from_ = paired.second_from;
  }
  sites_ = sites_of(trained_->model(), text_);
  require_within(bounds, *trained_, tokens_of(text_));
  trace_ = Trace(patterns_of(sites_));
  tell_of_layers();
  change(shown);
  if (second_from_) {
    insight::run_text(trained_->model(), text_, trace_);
  } else {
    const Batch batch = trained_->batch_of(shown_.example);
    if (shown.changes.empty() && trained_->model().scores_tokens()) keep_said(batch);
    trained_->model().run(input_of(batch), trace_);
  }
  name_places();
}

ModelRun::ModelRun(std::shared_ptr<const TextModel> trained, const ModelPass& pass)
    : trained_(std::move(trained)),
      shown_({.example = pass.example}),
      text_(insight::head_text_of(*trained_, shown_.example)),
      trace_(pass.trace),
      said_(std::make_shared<Tensor>(pass.said)),
      sites_(sites_of(trained_->model(), text_)) {
  name_places();
}

void ModelRun::name_places() {
  for (RunSite& site : sites_) {
    const Trace::Attention& first = trace_.attention(site.scope.name(0));
    PlaceNames names =
        names_of_places(*trained_, text_, shown_.example, site.site, first.q.value().dim(2), first.k.value().dim(2));
    site.queries = std::move(names.queries);
    site.keys = std::move(names.keys);
  }
}

void ModelRun::tell_of_layers() {
  std::int64_t total = 0;
  for (const RunSite& site : sites_) total += site.scope.layers;
  const auto done = std::make_shared<std::int64_t>(0);
  for (const RunSite& site : sites_) {
    for (std::int64_t layer = 0; layer < site.scope.layers; ++layer) {
      trace_.edit(site.scope.name(static_cast<std::size_t>(layer), "q"), [done, total](const Variable& q) {
        QuestionWatch::doing("the text", {.done = std::min((*done)++, total), .total = total});
        return q;
      });
    }
  }
}

void ModelRun::keep_said(const Batch& batch) {
  const std::int64_t row = insight::asked_row(*trained_, shown_.example, batch);
  trace_.edit(insight::logits_name(trained_->model()), [said = said_, row](const Variable& scores) {
    *said = Tensor(scores.value().select(0, 0).select(0, row), DType::f64);
    return scores;
  });
}

void ModelRun::change(const ShownText& shown) {
  const std::vector<Intervention> changes = changes_in(shown.changes);
  if (changes.empty()) return;
  std::optional<HeadText> other;
  if (!shown.from_text.empty()) {
    if (std::ranges::none_of(changes, reads_other_text)) {
      refuse("from_text", "a patch, or a pattern of the other text, among `changes`", "\"" + shown.changes + "\"");
    }
    other = of_field("from_text", [&] {
      std::vector<ChatMessage> talk;
      if (shown.talk.chat) talk = conversation_in(shown.talk, fields_of(shown).text);
      const Shown from = other_shown_of(*trained_, std::move(talk), shown.from_text, PassKeeps::layers);
      return insight::head_text_of(*trained_, read_shown(*trained_, from, kRequest).example);
    });
  }
  Intervener(trained_->model(), text_, other ? &*other : nullptr).add(changes, trace_);
}

std::size_t ModelRun::bytes() const {
  std::int64_t numbers = 0;
  for (const RunSite& site : sites_) {
    for (std::int64_t layer = 0; layer < site.scope.layers; ++layer) {
      const Trace::Attention& one = call(site, layer);
      for (const Variable* value : {&one.q, &one.k, &one.v, &one.out, &one.lse}) numbers += value->value().size();
    }
  }
  return static_cast<std::size_t>(numbers) * sizeof(float);
}

const RunSite& ModelRun::site(const std::string& name) const { return site_named(sites_, name); }

const Trace::Attention& ModelRun::call(const RunSite& site, std::int64_t layer) const {
  if (layer < 0 || layer >= site.scope.layers) {
    refuse("layer", core::numbered("layer", site.scope.layers), std::to_string(layer));
  }
  return trace_.attention(site.scope.name(static_cast<std::size_t>(layer)));
}

Tensor ModelRun::weights(const RunSite& site, std::int64_t layer) const {
  return trace_[site.scope.name(static_cast<std::size_t>(layer), "weights")].select(0, 0);
}

Probe ModelRun::probe(const RunSite& site, std::int64_t layer) const {
  return trace_.probe(site.scope.name(static_cast<std::size_t>(layer)));
}

// Patches, and a class token that is none, have no names but their numbers.
PlaceNames names_of_places(const TextModel& trained, const HeadText& text, const Example& example, AttentionSite site,
                           std::int64_t queries, std::int64_t keys) {
  const std::vector<std::string> own = insight::shown_tokens(trained, text);
  std::vector<std::string> source;
  if (!example.sound.empty()) source = insight::times_of(trained);
  for (const std::int32_t id : example.source) source.push_back(shown_token(trained.source_tokenizer(), id));
  const auto named = [](const std::vector<std::string>& names, std::int64_t count) {
    return std::ssize(names) == count ? names : numbers_from_to(0, count);
  };
  return {.queries = named(site == AttentionSite::source ? source : own, queries),
          .keys = named(site == AttentionSite::tokens ? own : source, keys)};
}

}  // namespace qkv::api_detail
