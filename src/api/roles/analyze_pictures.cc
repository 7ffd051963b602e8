// What `qkv analyze` and heads() of Python draw.
#include <utility>

#include "insight/mixed_layers.h"
#include "qkv/api/roles.h"
#include "qkv/insight/report.h"
#include "qkv/insight/rollout.h"

namespace qkv {
namespace {

constexpr std::size_t kMostFlow = 32;  // tokens: a flow for each pair of them takes too long beyond

// The weights of the first text, whose pass runs when a picture first needs them.
class FirstText {
 public:
  FirstText(OpenedModel model, HeadText text) : model_(std::move(model)), text_(std::move(text)) {}

  [[nodiscard]] std::vector<TensorView> layers() {
    if (layers_.empty()) {
      layers_ = insight::self_attention_of(model_->model(), text_, AttentionSite::tokens, "heads_drawings");
    }
    return {layers_.begin(), layers_.end()};
  }

 private:
  OpenedModel model_;
  HeadText text_;
  std::vector<Tensor> layers_;
};

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
    if (found.analysis->sites[n].site != AttentionSite::tokens || found.model->traits().is_pair) continue;
    const auto first = std::make_shared<FirstText>(found.model, found.texts.texts.front());
    const std::vector<std::string>& shown = found.texts.shown;
    all.push_back(drawing("tokens-rollout", [=] { return rollout_maps(attention_rollout(first->layers()), shown); }));
    if (found.texts.texts.front().ids.size() > kMostFlow) continue;
    all.push_back(drawing("tokens-flow", [=] { return flow_map(attention_flow(first->layers()), shown); }));
  }
  return all;
}

std::vector<Drawing> syntax_drawings(const SyntaxAnalysis& analysis) {
  const Panel maps = relations_by_head(analysis, kFewestPairs);
  if (maps.heatmaps.empty()) return {};
  return {drawing("relations", [=] { return maps; })};
}

}  // namespace qkv
