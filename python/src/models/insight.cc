#include <algorithm>
#include <array>
#include <memory>

#include "../arrays.h"
#include "models.h"
#include "qkv/api/change.h"
#include "qkv/api/lens.h"
#include "qkv/api/models.h"
#include "qkv/api/roles.h"
#include "qkv/insight/change.h"
#include "qkv/insight/lens.h"
#include "qkv/insight/report.h"
#include "qkv/insight/rollout.h"
#include "report.h"

namespace qkv::python {
namespace {

// A question of one text, as Python has it.
using Look = std::tuple<std::optional<std::string>, std::optional<std::int64_t>, std::optional<std::string>,
                        std::optional<std::string>, std::optional<std::string>>;

TextQuestion question_of(const Look& look) {
  const auto& [text, example, query, token, against] = look;
  return {.text = text, .example = example, .query = query, .token = token, .against = against};
}

constexpr std::int64_t kMostTexts = 100'000;  // as the command has it

HeadTexts texts_of(const LoadedModel& model, const std::optional<std::vector<std::string>>& texts, std::int64_t count) {
  if (!texts) require_between("heads", "count", count, 1, kMostTexts);
  return texts ? head_texts(model.trained, *texts) : texts_to_look_at(model.trained, count);
}

std::vector<AttentionSite> sites_of(const std::vector<std::string>& names) {
  constexpr std::array kSites = {AttentionSite::tokens, AttentionSite::source, AttentionSite::cross};
  std::vector<AttentionSite> sites;
  for (const std::string& name : names) {
    const auto* found = std::ranges::find(kSites, name, [](AttentionSite site) { return name_of(site); });
    if (found == kSites.end()) throw InvalidArgument("heads", "sites", "tokens, source or cross", name);
    sites.push_back(*found);
  }
  return sites;
}

std::vector<PatternHead> patterns_of(const TextModel& model, std::int64_t count,
                                     const std::vector<AttentionSite>& sites) {
  std::vector<PatternHead> patterns = pattern_heads(model, count);
  std::erase_if(patterns, [&](const PatternHead& one) { return std::ranges::find(sites, one.site) == sites.end(); });
  return patterns;
}

Report report_of(const std::shared_ptr<const HeadAnalysis>& analysis, const std::string& name,
                 const std::string& described) {
  Report report{.json = reply_as_json(roles_reply(*analysis, name, described)),
                .table = heads_table(*analysis, name, described)};
  for (std::size_t n = 0; n < analysis->sites.size(); ++n) {
    const std::string site(name_of(analysis->sites[n].site));
    const auto add = [&](const char* what, auto draw) {
      report.pictures.emplace_back(site + "-" + what, [=] { return to_svg(draw(analysis->sites[n])); });
    };
    add("grid", &heads_grid);
    add("classes", &classes_by_layer);
    add("distances", &head_distances);
    add("entropy", &entropy_by_depth);
  }
  return report;
}

// As `qkv analyze`.
Report heads_of(const LoadedModel& model, const std::optional<std::vector<std::string>>& texts, std::int64_t count,
                const std::vector<std::string>& sites, std::int64_t importance, std::uint64_t seed) {
  require_between("heads", "importance", importance, 0, kMostTexts);
  return stoppably([&] {
    const HeadTexts read = texts_of(model, texts, count);
    HeadOptions options;
    if (!sites.empty()) options.sites = sites_of(sites);
    options.importance_texts = importance;
    options.repeats = read.repeats;
    options.masks = read.masks;
    options.repeats.seed = options.masks.seed = seed;
    const auto analysis = std::make_shared<HeadAnalysis>(analyze_heads(model.trained.model(), read.texts, options));
    if (!texts) analysis->patterns = patterns_of(model.trained, count, options.sites);
    return report_of(analysis, model.name, read.described);
  });
}

ChangeQuestion change_question(const LoadedModel& model, const Look& look, const std::vector<std::string>& changes,
                               const std::optional<std::string>& from_text,
                               const std::optional<std::int64_t>& from_example) {
  ChangeQuestion question{.of = question_of(look), .from_text = from_text, .from_example = from_example};
  for (const std::string& change : changes) question.interventions.push_back(parse_intervention(change));
  if (model.trained.traits().fills) question.vectors = embed_options_of(model.path);
  return question;
}

// As `qkv change` of one text.
Report text_changed(const LoadedModel& model, const Look& look, const std::vector<std::string>& changes,
                    const std::optional<std::string>& from_text, std::optional<std::int64_t> from_example) {
  return stoppably([&] {
    const ChangeQuestion question = change_question(model, look, changes, from_text, from_example);
    const TextChange change = change_text(model.trained, question);
    return Report{.json = reply_as_json(change_figures(change, question, model.name)),
                  .table = change_table(change, question, model.name)};
  });
}

// As `qkv change` of many texts.
Report texts_changed(const LoadedModel& model, const std::optional<std::vector<std::string>>& texts, std::int64_t count,
                     const std::vector<std::string>& changes) {
  return stoppably([&] {
    const ChangeQuestion question = change_question(model, {}, changes, std::nullopt, std::nullopt);
    const LossChange change = change_texts(model.trained, texts_of(model, texts, count).texts, question);
    return Report{.json = reply_as_json(change_figures(change, question, model.name)),
                  .table = change_table(change, question, model.name)};
  });
}

Report drawn(std::string json, std::string table, Panel panel) {
  Report report{.json = std::move(json), .table = std::move(table)};
  report.pictures.emplace_back("map", [panel = std::move(panel)] { return to_svg(panel); });
  return report;
}

// As `qkv change --sweep`.
Report swept(const LoadedModel& model, const std::string& of, const Look& look, const std::vector<std::string>& changes,
             const std::optional<std::string>& from_text, std::optional<std::int64_t> from_example) {
  if (of != "heads" && of != "places") throw InvalidArgument("sweep", "of", "\"heads\" or \"places\"", of);
  return stoppably([&] {
    const ChangeQuestion question = change_question(model, look, changes, from_text, from_example);
    const Sweep sweep = of == "heads" ? sweep_heads(model.trained, question) : sweep_places(model.trained, question);
    const std::string title = model.name + (of == "heads" ? ": each head removed" : ": each state from the other text");
    return drawn(reply_as_json(sweep_figures(sweep, question, model.name)), sweep_table(sweep),
                 sweep_panel(sweep, title));
  });
}

// As `qkv lens`.
Report lens_of(const LoadedModel& model, const Look& look) {
  return stoppably([&] {
    const LensReport report = lens_report(model.trained, question_of(look));
    return drawn(reply_as_json(lens_figures(report, model.name)), lens_table(report, model.name),
                 lens_panel(report, model.name));
  });
}

// (tokens, [maps], the picture's report)
nb::tuple rollout_of(const LoadedModel& model, const std::string& text, const std::string& way) {
  if (way != "rollout" && way != "flow") throw InvalidArgument("rollout", "way", "\"rollout\" or \"flow\"", way);
  std::vector<Tensor> maps;
  HeadTexts read;
  stoppably([&] {
    const std::vector<std::string> one{text};
    read = head_texts(model.trained, one);
    if (way == "flow") {
      maps.push_back(attention_flow(model.trained.model(), read.texts.front()));
    } else {
      maps = attention_rollout(model.trained.model(), read.texts.front());
    }
    return 0;
  });
  Panel panel = way == "flow" ? flow_map(maps.front(), read.shown) : rollout_maps(maps, read.shown);
  nb::list arrays;
  for (Tensor& map : maps) arrays.append(numpy_array(std::move(map)));
  return nb::make_tuple(read.shown, arrays, drawn("{}", "", std::move(panel)));
}

}  // namespace

void add_insight(nb::module_& module) {
  module.def("heads", &heads_of, nb::arg("model"), nb::arg("texts"), nb::arg("count"), nb::arg("sites"),
             nb::arg("importance"), nb::arg("seed"));
  module.def("change", &text_changed, nb::arg("model"), nb::arg("look"), nb::arg("changes"), nb::arg("from_text"),
             nb::arg("from_example"));
  module.def("change_texts", &texts_changed, nb::arg("model"), nb::arg("texts"), nb::arg("count"), nb::arg("changes"));
  module.def("sweep", &swept, nb::arg("model"), nb::arg("of"), nb::arg("look"), nb::arg("changes"),
             nb::arg("from_text"), nb::arg("from_example"));
  module.def("lens", &lens_of, nb::arg("model"), nb::arg("look"));
  module.def(
      "rollout", &rollout_of, nb::arg("model"), nb::arg("text"), nb::arg("way"),
      nb::sig(
          "def rollout(model: Model, text: str, way: str) -> tuple[list[str], list[qkv._types.Float64Array], Report]"));
}

}  // namespace qkv::python
