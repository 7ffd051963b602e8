#include "explain/trained/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "explain/sections.h"

namespace qkv::explain_detail {
namespace {

void require(bool holds, const char* argument, const std::string& expected, const std::string& got) {
  if (!holds) throw InvalidArgument("explain_model", argument, expected, got);
}

void require_sound(const Reading& reading) {
  require(reading.site < reading.sites.size(), "site", fmt::format("fewer than {}", reading.sites.size()),
          fmt::format("{}", reading.site));
  const std::size_t layers = reading.sites[reading.site].weights.size();
  require(reading.layer < layers, "layer", fmt::format("fewer than {}", layers), fmt::format("{}", reading.layer));
  const std::int64_t heads = reading.sites[reading.site].weights[reading.layer].dim(0);
  require(static_cast<std::int64_t>(reading.head) < heads, "head", fmt::format("fewer than {}", heads),
          fmt::format("{}", reading.head));
  if (reading.probabilities.empty()) return;
  const Shape wanted{static_cast<std::int64_t>(reading.tokens.size()),
                     static_cast<std::int64_t>(reading.vocabulary.size())};
  require(reading.probabilities.shape() == wanted, "probabilities", wanted.to_string(),
          reading.probabilities.shape().to_string());
}

Run run_of(const Reading& reading) {
  const ReadingCall& call = reading.call;
  const ReadingSite& site = reading.sites[reading.site];
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
  run.keys.tokens = site.keys;
  run.attention = call.options;
  if (site.hidden.empty()) run.attention.mask = {};  // one of padding, which a single example lacks
  return run;
}

Explanation explain_call(const Reading& reading) {
  const Run run = run_of(reading);
  ExplainOptions options;
  options.own = OwnTensors{.q = run.q, .k = run.k, .v = run.v};
  options.mask = run.attention.mask;
  options.query = reading.query;
  options.whys = reading.whys;
  return explain_run({.options = &options, .run = &run});
}

// What is said of a reader's own tensors is not true of a model's.
void say_whose(const Reading& reading, Section& step) {
  step.title = "Q, K and V";
  step.text = fmt::format(
      "These are the model's own: what the trained projections of layer {} ({}) make of the vectors that reach it{}. "
      "What follows is computed from them in the model's own {}.",
      reading.layer, reading.sites[reading.site].name,
      reading.call.is_rotated ? ", Q and K after the rotary turn by their position" : "",
      name_of(reading.call.q.dtype()));
}

std::vector<Section> steps_of(const Reading& reading) {
  std::vector<Section> steps;
  if (!reading.probabilities.empty()) steps.push_back(says_step(reading));
  if (!reading.captions.empty()) steps.push_back(captions_step(reading));
  steps.push_back(overview_step(reading));
  steps.push_back(head_step(reading));
  if (std::ranges::any_of(reading.sites, [](const ReadingSite& site) { return !site.relations.empty(); })) {
    steps.push_back(patterns_step(reading));
  }
  if (!reading.image.empty()) steps.push_back(picture_step(reading));
  const ReadingSite& site = reading.sites[reading.site];
  if (!reading.image.empty() && site.key_columns > 0) steps.push_back(image_step(reading));
  for (const ReadingSite& each : reading.sites) steps.push_back(heads_step(each));
  return steps;
}

}  // namespace

Explanation explain(const Reading& reading, std::vector<Section> path) {
  require_sound(reading);
  Explanation explanation = explain_call(reading);
  std::vector<Section> steps = steps_of(reading);
  const std::string where = fmt::format("Layer {}, {}: ", reading.layer, reading.sites[reading.site].name);
  for (Section& step : explanation.steps) {
    if (step.id == "tensors") say_whose(reading, step);
    step.title = where + step.title;
    step.is_detail = true;
  }
  explanation.whys = whys_of(reading, std::move(explanation.whys));
  std::ranges::move(explanation.steps, std::back_inserter(steps));
  std::ranges::move(path, std::back_inserter(steps));
  int number = 0;
  for (Section& step : steps) step.number = ++number;
  explanation.steps = std::move(steps);
  explanation.title = reading.title;
  explanation.settings.insert(explanation.settings.begin(), reading.settings.begin(), reading.settings.end());
  explanation.notes.insert(explanation.notes.begin(), reading.notes.begin(), reading.notes.end());
  if (!reading.probabilities.empty()) explanation.tensors.push_back({"probabilities", reading.probabilities});
  return explanation;
}

}  // namespace qkv::explain_detail
