// What `qkv analyze` and heads() of Python draw.

#include "qkv/api/roles.h"
#include "qkv/insight/report.h"
#include "qkv/insight/rollout.h"

namespace qkv {
namespace {

constexpr std::size_t kMostFlow = 32;  // tokens: a flow for each pair of them takes too long beyond

void add_site(std::vector<Drawing>& all, const std::shared_ptr<const HeadAnalysis>& analysis, std::size_t n) {
  const std::string site(name_of(analysis->sites[n].site));
  const auto add = [&](const char* what, auto draw) {
    all.push_back(drawing(site + "-" + what, [=] { return draw(analysis->sites[n]); }));
  };
  add("grid", &heads_grid);
  add("classes", &classes_by_layer);
  add("distances", &head_distances);
  add("entropy", &entropy_by_depth);
}

}  // namespace

std::vector<Drawing> heads_drawings(const HeadsFound& found) {
  std::vector<Drawing> all;
  for (std::size_t n = 0; n < found.analysis->sites.size(); ++n) {
    add_site(all, found.analysis, n);
    const AttentionSite site = found.analysis->sites[n].site;
    if (site != AttentionSite::tokens || found.model->traits().is_pair) continue;
    const auto add = [&](const char* what, auto draw) {
      all.push_back(drawing(std::string(name_of(site)) + "-" + what,
                            [=, model = found.model, texts = found.texts] { return draw(model->model(), texts); }));
    };
    add("rollout", [](const Model& model, const HeadTexts& texts) {
      return rollout_maps(attention_rollout(model, texts.texts.front()), texts.shown);
    });
    if (found.texts.texts.front().ids.size() > kMostFlow) continue;
    add("flow", [](const Model& model, const HeadTexts& texts) {
      return flow_map(attention_flow(model, texts.texts.front()), texts.shown);
    });
  }
  return all;
}

std::vector<Drawing> syntax_drawings(const SyntaxAnalysis& analysis) {
  const Panel maps = relations_by_head(analysis, kFewestPairs);
  if (maps.heatmaps.empty()) return {};
  return {drawing("relations", [=] { return maps; })};
}

}  // namespace qkv
