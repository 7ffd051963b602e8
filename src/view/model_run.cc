#include "view/model_run.h"

#include <array>
#include <utility>

#include "insight/asked_text.h"
#include "insight/text_batch.h"
#include "qkv/explain/model.h"
#include "qkv/insight/interventions.h"
#include "view/changes.h"
#include "view/probe_parts.h"
#include "view/refuse.h"

namespace qkv::view_detail {
namespace {

TaskExample example_shown(const TrainedModel& trained, const ShownText& shown) {
  if (shown.text.empty() == !shown.example) {
    refuse("model", "`text` or `example` beside it, one of them", shown.example ? "both" : "none");
  }
  ModelQuestion question{.title = shown.model, .example = shown.example};
  if (!shown.text.empty()) question.text = shown.text;
  return of_fields([&] { return shown_example(trained, question); });
}

std::vector<RunSite> sites_of(const Model& model, const HeadText& text) {
  std::vector<RunSite> sites;
  for (const AttentionSite site : {AttentionSite::cross, AttentionSite::tokens, AttentionSite::source}) {
    // A decoder has one matrix, whatever it reads.
    const bool is_part = model.kind() == ModelKind::decoder && site != AttentionSite::tokens;
    if (is_part || !insight::runs_site(model, text, site)) continue;
    sites.push_back({.site = site, .scope = *model.scope_of(site), .queries = {}, .keys = {}});
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

}  // namespace

ModelRun::ModelRun(std::shared_ptr<const TrainedModel> trained, const ShownText& shown)
    : trained_(std::move(trained)),
      example_(example_shown(*trained_, shown)),
      text_(insight::head_text_of(*trained_, example_)),
      trace_(std::vector<std::string>{}) {
  if (!shown.second.empty()) {
    PairedText paired = paired_text(*trained_, shown);
    text_ = std::move(paired.text);
    second_from_ = paired.second_from;
  }
  sites_ = sites_of(trained_->model(), text_);
  trace_ = Trace(patterns_of(sites_));
  change(shown);
  if (second_from_) {
    insight::run_text(trained_->model(), text_, trace_);
  } else {
    trained_->model().run(input_of(trained_->batch_of(example_)), trace_);
  }
  for (RunSite& site : sites_) {
    const Trace::Attention& first = trace_.attention(site.scope.name(0));
    PlaceNames names =
        names_of_places(*trained_, text_, example_, site.site, first.q.value().dim(2), first.k.value().dim(2));
    site.queries = std::move(names.queries);
    site.keys = std::move(names.keys);
  }
}

void ModelRun::change(const ShownText& shown) {
  const std::vector<Intervention> changes = changes_in(shown.changes);
  if (changes.empty()) return;
  of_fields(
      [&] {
        std::optional<HeadText> other;
        if (!shown.from_text.empty()) {
          other = of_field("from_text",
                           [&] { return insight::head_text_of(*trained_, trained_->example_of(shown.from_text)); });
        }
        Intervener(trained_->model(), text_, other ? &*other : nullptr).add(changes, trace_);
      },
      field_of_change);
}

const RunSite& ModelRun::site(const std::string& name) const {
  if (name.empty()) return sites_.front();
  std::string known;
  for (const RunSite& one : sites_) {
    if (name == name_of(one.site)) return one;
    known += (known.empty() ? "" : ", ") + std::string(name_of(one.site));
  }
  refuse("site", "one that the model has: " + known, "\"" + name + "\"");
}

const Trace::Attention& ModelRun::call(const RunSite& site, std::int64_t layer) const {
  if (layer < 0 || layer >= site.scope.layers) {
    refuse("layer", "0 to " + std::to_string(site.scope.layers - 1), std::to_string(layer));
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
PlaceNames names_of_places(const TrainedModel& trained, const HeadText& text, const TaskExample& example,
                           AttentionSite site, std::int64_t queries, std::int64_t keys) {
  const std::vector<std::string> own = insight::shown_tokens(trained, text);
  std::vector<std::string> source;
  for (const std::int32_t id : example.source) source.push_back(shown_token(trained.task().source_vocabulary(), id));
  const auto named = [](const std::vector<std::string>& names, std::int64_t count) {
    return std::ssize(names) == count ? names : numbers_from_to(0, count);
  };
  return {.queries = named(site == AttentionSite::source ? source : own, queries),
          .keys = named(site == AttentionSite::tokens ? own : source, keys)};
}

}  // namespace qkv::view_detail
