#include "explain/trained/model_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "explain/sections.h"

namespace qkv::explain_detail {
namespace {

constexpr std::int64_t kMostProbabilities = std::int64_t{1} << 18;  // numbers of a tensor in a file to be read

void require(bool holds, const char* argument, const std::string& expected, const std::string& got) {
  if (!holds) throw InvalidArgument("explain_model", argument, expected, got);
}

void require_sound(const ModelRun& model_run) {
  require(model_run.site < model_run.sites.size(), "site", fmt::format("fewer than {}", model_run.sites.size()),
          fmt::format("{}", model_run.site));
  const std::size_t layers = model_run.sites[model_run.site].weights.size();
  require(model_run.layer < layers, "layer", fmt::format("fewer than {}", layers), fmt::format("{}", model_run.layer));
  const std::int64_t heads = model_run.sites[model_run.site].weights[model_run.layer].dim(0);
  require(static_cast<std::int64_t>(model_run.head) < heads, "head", fmt::format("fewer than {}", heads),
          fmt::format("{}", model_run.head));
  if (model_run.probabilities.empty()) return;
  const Shape wanted{static_cast<std::int64_t>(model_run.tokens.size()),
                     static_cast<std::int64_t>(model_run.vocabulary.size())};
  require(model_run.probabilities.shape() == wanted, "probabilities", wanted.to_string(),
          model_run.probabilities.shape().to_string());
}

Run run_of(const ModelRun& model_run) {
  const LayerCall& call = model_run.call;
  const SiteWeights& site = model_run.sites[model_run.site];
  Run run;
  run.q = call.q;
  run.k = call.k;
  run.v = call.v;
  run.out = call.out;
  run.concat = pack_heads(call.out);
  run.heads = call.q.dim(1);
  run.kv_heads = call.k.dim(1);
  run.d_k = call.q.dim(3);
  run.d_v = call.v.dim(3);
  run.queries.tokens = site.queries;
  run.first_query = static_cast<std::int64_t>(model_run.first);
  run.keys.tokens = site.keys;
  run.attention = call.options;
  if (site.hidden.empty()) run.attention.mask = {};  // one of padding, which a single example lacks
  return run;
}

Explanation explain_call(const ModelRun& model_run) {
  const Run run = run_of(model_run);
  ExplainOptions options;
  options.own = OwnTensors{.q = run.q, .k = run.k, .v = run.v};
  options.mask = run.attention.mask;
  options.query = model_run.query;
  options.whys = model_run.whys;
  return explain_run({.options = &options, .run = &run});
}

// What is said of a reader's own tensors is not true of a model's.
void say_whose(const ModelRun& model_run, Section& step) {
  step.title = "Q, K and V";
  step.text = fmt::format(
      "These are the model's own: what the trained projections of layer {} ({}) make of the vectors that reach it{}. "
      "What follows is computed from them in the model's own {}.",
      model_run.layer, model_run.sites[model_run.site].name,
      model_run.call.is_rotated ? ", Q and K after the rotary turn by their position" : "",
      name_of(model_run.call.q.dtype()));
}

std::vector<Section> steps_of(const ModelRun& model_run) {
  std::vector<Section> steps;
  if (!model_run.sources.empty()) steps.push_back(template_step(model_run));
  if (!model_run.probabilities.empty()) steps.push_back(says_step(model_run));
  if (!model_run.captions.empty()) steps.push_back(captions_step(model_run));
  if (!model_run.classes.empty()) steps.push_back(classes_step(model_run));
  steps.push_back(overview_step(model_run));
  steps.push_back(head_step(model_run));
  if (std::ranges::any_of(model_run.sites, [](const SiteWeights& site) { return !site.relations.empty(); })) {
    steps.push_back(patterns_step(model_run));
  }
  if (!model_run.image.empty()) steps.push_back(picture_step(model_run));
  const SiteWeights& site = model_run.sites[model_run.site];
  if (!model_run.image.empty() && site.key_columns > 0) {
    if (site.places_from > 0) steps.push_back(class_step(model_run));
    steps.push_back(image_step(model_run));
  }
  std::ranges::copy(model_run.maps, std::back_inserter(steps));
  for (const SiteWeights& each : model_run.sites) steps.push_back(heads_step(each));
  return steps;
}

}  // namespace

Explanation explain(const ModelRun& model_run, std::vector<Section> path) {
  require_sound(model_run);
  Explanation explanation = explain_call(model_run);
  std::vector<Section> steps = steps_of(model_run);
  const std::string where = fmt::format("Layer {}, {}: ", model_run.layer, model_run.sites[model_run.site].name);
  for (Section& step : explanation.steps) {
    if (step.id == "tensors") say_whose(model_run, step);
    step.title = where + step.title;
    step.is_detail = true;
  }
  explanation.whys = whys_of(model_run, std::move(explanation.whys));
  std::ranges::move(explanation.steps, std::back_inserter(steps));
  std::ranges::move(path, std::back_inserter(steps));
  int number = 0;
  for (Section& step : steps) step.number = ++number;
  explanation.steps = std::move(steps);
  explanation.title = model_run.title;
  explanation.sources = model_run.sources;
  explanation.head = fmt::format("{}.{}.{}", model_run.sites[model_run.site].name, model_run.layer, model_run.head);
  explanation.settings.insert(explanation.settings.begin(), model_run.settings.begin(), model_run.settings.end());
  explanation.notes.insert(explanation.notes.begin(), model_run.notes.begin(), model_run.notes.end());
  if (!model_run.probabilities.empty() && model_run.probabilities.size() <= kMostProbabilities) {
    explanation.tensors.push_back({"probabilities", model_run.probabilities});
  }
  return explanation;
}

}  // namespace qkv::explain_detail
