#include "qkv/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include "core/number_text.h"
#include "core/watched.h"
#include "explain/drawn_model.h"
#include "explain/numbers.h"
#include "explain/sections.h"

namespace qkv {
namespace {

using namespace explain_detail;

constexpr std::int64_t kKeptWhole = 1024;  // tokens; of longer texts the weights alone are kept of all T × T matrices

void append(std::vector<Section>& sections, std::vector<Section> more) {
  std::move(more.begin(), more.end(), std::back_inserter(sections));
}

template <class Item>
std::vector<std::string> ids_of(const std::vector<Item>& sections) {
  std::vector<std::string> ids;
  for (const Item& section : sections) {
    ids.push_back(section.number > 0 ? fmt::format("{} {}", section.number, section.id) : section.id);
  }
  return ids;
}

// "7", "5-8" or an id.
template <class Item>
bool selects(std::string_view part, const Item& section) {
  const auto numbers = core::numbers_from<int>(part, '-');
  if (!numbers || numbers->size() > 2) return section.id == part;
  return section.number >= numbers->front() && section.number <= numbers->back();
}

std::vector<std::string_view> parts_of(std::string_view selector) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = selector.find(',');
    parts.push_back(selector.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    selector.remove_prefix(comma + 1);
  }
}

// Of sections, or of what makes them.
template <class Item>
void keep_selected(std::vector<Item>& sections, std::string_view argument, std::string_view selector) {
  const std::vector<std::string_view> parts = parts_of(selector);
  for (const std::string_view part : parts) {
    const bool any = std::any_of(sections.begin(), sections.end(), [&](const Item& s) { return selects(part, s); });
    if (any) continue;
    throw InvalidArgument("explain", argument, fmt::format("one or several of {}", fmt::join(ids_of(sections), ", ")),
                          "\"" + std::string(part) + "\"");
  }
  std::erase_if(sections, [&](const Item& section) {
    return std::none_of(parts.begin(), parts.end(), [&](std::string_view part) { return selects(part, section); });
  });
}

// Sections that cost little are made at once.
void append(std::vector<LazyStep>& steps, std::vector<Section> made) {
  for (Section& step : made) {
    std::string id = step.id;
    steps.push_back({std::move(id), [step = std::move(step)] { return step; }});
  }
}

void append(std::vector<LazyStep>& steps, std::vector<LazyStep> more) {
  std::move(more.begin(), more.end(), std::back_inserter(steps));
}

std::vector<Section> steps_of(const Scene& scene) {
  std::vector<LazyStep> steps;
  if (scene.model != nullptr) append(steps, input_steps(scene));
  if (scene.options->surroundings == Surroundings::pre_norm_block) append(steps, norm_steps_before(scene));
  append(steps, projection_steps(scene));
  append(steps, score_steps(scene));
  append(steps, output_steps(scene));
  if (scene.options->surroundings != Surroundings::attention_only) append(steps, block_steps(scene));
  int number = 0;
  for (LazyStep& step : steps) step.number = ++number;
  if (!scene.options->only_steps.empty()) keep_selected(steps, "step", scene.options->only_steps);
  std::vector<Section> made;
  for (const LazyStep& step : steps) {
    core::look();
    made.push_back(step.make());
  }
  for (std::size_t n = 0; n < steps.size(); ++n) made[n].number = steps[n].number;
  return made;
}

std::vector<Section> whys_of(const Scene& scene) {
  std::vector<Section> whys = whys_about_scaling(scene);
  append(whys, whys_about_order(scene));
  append(whys, whys_about_masking(scene));
  append(whys, whys_about_shapes(scene));
  return whys;
}

std::vector<Setting> settings_of(const Scene& scene) {
  const Run& run = *scene.run;
  std::vector<Setting> settings = {{"tokens", fmt::format("{}", run.tq())}};
  if (run.tk() != run.tq() || scene.options->context) settings.push_back({"keys", fmt::format("{}", run.tk())});
  if (scene.model != nullptr) settings.push_back({"d_model", fmt::format("{}", scene.options->d_model)});
  settings.push_back({"heads", fmt::format("{}", run.heads)});
  if (run.kv_heads != run.heads) settings.push_back({"kv_heads", fmt::format("{}", run.kv_heads)});
  settings.push_back({"d_k", fmt::format("{}", run.d_k)});
  settings.push_back({"d_v", fmt::format("{}", run.d_v)});
  if (scene.model != nullptr) {
    settings.push_back({"seed", fmt::format("{}", scene.options->seed)});
    settings.push_back({"position", std::string(name_of(scene.options->position))});
  }
  settings.push_back({"mask", run.attention.mask.is_all() ? "none" : run.attention.mask.to_string()});
  if (!scene.options->bias.is_zero()) settings.push_back({"bias", scene.options->bias.to_string()});
  if (run.attention.softcap) settings.push_back({"softcap", shown(*run.attention.softcap, 2)});
  if (const auto& dropout = run.attention.dropout) {
    settings.push_back({"dropout", fmt::format("{}", dropout->p)});
    settings.push_back({"dropout seed", fmt::format("{}", dropout->seed)});
  }
  if (scene.options->surroundings == Surroundings::pre_norm_block) settings.push_back({"block", "pre-norm"});
  if (scene.options->surroundings == Surroundings::post_norm_block) settings.push_back({"block", "post-norm"});
  return settings;
}

void keep(Explanation& explanation, std::string name, const Tensor& tensor) {
  if (!tensor.empty()) explanation.tensors.push_back({std::move(name), tensor});
}

void keep_split(Explanation& explanation, std::string name, const Tensor& tensor) {
  if (!tensor.empty()) explanation.tensors.push_back({std::move(name), Tensor(tensor.view().select(0, 0))});
}

void keep_tensors(Explanation& explanation, const Scene& scene) {
  const Run& run = *scene.run;
  keep(explanation, "embeddings", run.queries.embedded);
  keep(explanation, "positions", run.queries.encoding);
  keep(explanation, "x", run.queries.x);
  if (scene.options->context) keep(explanation, "context", run.keys.x);
  keep_split(explanation, "q", run.q);
  keep_split(explanation, "k", run.k);
  keep_split(explanation, "v", run.v);
  if (std::max(run.tq(), run.tk()) <= kKeptWhole) {
    for (const Stage stage : {Stage::raw, Stage::scaled, Stage::softcapped, Stage::biased, Stage::masked}) {
      keep_split(explanation, std::string(name_of(stage)), run.stage(stage));
    }
    if (run.attention.dropout) keep_split(explanation, "dropped", run.stage(Stage::dropped));
  }
  keep_split(explanation, "weights", run.stage(Stage::weights));
  keep_split(explanation, "out", run.out);
  keep(explanation, "concat", run.concat);
  keep(explanation, "output", run.output);
  if (run.block) keep(explanation, "result", run.block->result);
}

void keep_parameters(Explanation& explanation, const DrawnModel& model) {
  const DrawnParameters& parameters = model.parameters();
  keep(explanation, "embedding_table", parameters.embedding);
  keep(explanation, "w_q", parameters.w_q);
  keep(explanation, "w_k", parameters.w_k);
  keep(explanation, "w_v", parameters.w_v);
  keep(explanation, "w_o", parameters.w_o);
  keep(explanation, "w_1", parameters.w_1);
  keep(explanation, "w_2", parameters.w_2);
}

}  // namespace

const Tensor& Explanation::tensor(std::string_view name) const {
  std::vector<std::string> names;
  for (const KeptTensor& named : tensors) {
    if (named.name == name) return named.tensor;
    names.push_back(named.name);
  }
  throw InvalidArgument("Explanation::tensor", "name", fmt::format("one of {}", fmt::join(names, ", ")),
                        "\"" + std::string(name) + "\"");
}

Explanation explain_detail::explain_run(const Scene& scene) {
  const Run& run = *scene.run;
  const ExplainOptions& options = *scene.options;
  Explanation explanation;
  explanation.title =
      options.own ? "Attention on given tensors" : fmt::format("{}", fmt::join(run.queries.tokens, " "));
  explanation.tokens = run.queries.tokens;
  explanation.keys = run.keys.tokens;
  explanation.settings = settings_of(scene);
  if (options.steps) explanation.steps = steps_of(scene);
  if (options.query) {
    const insight::TokenChoice asked = insight::find_token("explain", "query", *options.query, run.queries.tokens);
    explanation.query = query_section(scene, asked);
    explanation.asked = asked.index;
  }
  if (options.whys) explanation.whys = whys_of(scene);
  keep_tensors(explanation, scene);
  return explanation;
}

Explanation explain(const ExplainOptions& options) {
  const std::unique_ptr<DrawnModel> model = options.own ? nullptr : std::make_unique<DrawnModel>(options);
  const Run run = model ? model->run() : run_own_tensors(options);
  Explanation explanation = explain_run({&options, model.get(), &run});
  if (model) {
    keep_parameters(explanation, *model);
    explanation.notes.push_back(
        fmt::format("The parameters are drawn from seed {} and untrained, so the pattern means nothing yet; the "
                    "arithmetic is exact: "
                    "f64 throughout, by the engine itself.",
                    options.seed));
  }
  return explanation;
}

void keep_steps(Explanation& explanation, std::string_view selector) {
  keep_selected(explanation.steps, "step", selector);
}

void keep_whys(Explanation& explanation, std::string_view selector) {
  if (selector == "all") return;
  const std::vector<std::string> there = ids_of(explanation.whys);
  const auto has = [&](std::string_view id) { return std::ranges::find(there, id) != there.end(); };
  std::string known = fmt::format("{}", fmt::join(there, ", "));
  const bool is_drawn = has("transpose");
  if (is_drawn && !has("epsilon")) known += ", beside `block` epsilon";
  for (const std::string_view part : parts_of(selector)) {
    if (has(part)) continue;
    throw InvalidArgument("explain", "why", "all alone, or one or several of " + known, fmt::format("\"{}\"", part));
  }
  keep_selected(explanation.whys, "why", selector);
}

}  // namespace qkv
