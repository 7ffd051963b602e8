#include "explain/trained/chosen_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/listed.h"
#include "core/numbered.h"
#include "explain/trained/asked.h"
#include "qkv/model/relation_scores.h"

namespace qkv::explain_detail {
namespace {

constexpr std::int64_t kHeldOut = 16;  // examples that show which head is worth a look

std::optional<std::size_t> site_named(const std::vector<HeadsOfSite>& sites, std::string_view name) {
  for (std::size_t n = 0; n < sites.size(); ++n) {
    if (!sites[n].is_whole && sites[n].name == name) return n;
  }
  return std::nullopt;
}

std::vector<HeadsOfSite> heads_of(const std::vector<TracedSite>& sites) {
  std::vector<HeadsOfSite> all;
  for (const TracedSite& site : sites) {
    HeadsOfSite& own = all.emplace_back(HeadsOfSite{.name = site.shown.name, .heads = {}, .is_whole = site.is_whole});
    for (const Tensor& weights : site.shown.weights) own.heads.push_back(weights.dim(0));
  }
  return all;
}

[[noreturn]] void refuse_site(const std::vector<HeadsOfSite>& sites, const std::string& got) {
  std::vector<std::string> names;
  for (const HeadsOfSite& site : sites) {
    if (!site.is_whole) names.push_back(site.name);
  }
  refuse("site", "one of " + core::joined(names), got);
}

void require_below(const char* argument, std::optional<std::int64_t> index, std::int64_t count) {
  if (!index || (*index >= 0 && *index < count)) return;
  refuse(argument, core::numbered(argument, count), fmt::format("{}", *index));
}

// Whoever asks for a head gives both of its numbers at once, as 1.5.
void require_layer(const ModelQuestion& question, std::int64_t layers) {
  if (!question.head) return require_below("layer", question.layer, layers);
  if (!question.layer) refuse("head", "a layer beside it", "none");
  if (*question.layer >= 0 && *question.layer < layers) return;
  refuse("head", core::numbered("layer", layers), fmt::format("{}", *question.layer));
}

// The head with the largest mean weight on a pattern, of those that the question leaves open.
class Best {
 public:
  Best(const std::vector<HeadsOfSite>& sites, const ModelQuestion& question) : sites_(sites), question_(question) {
    const auto cross = site_named(sites, name_of(AttentionSite::cross));
    if (question.site && !site_named(sites, *question.site)) refuse_site(sites, *question.site);
    head_.site = question.site ? *site_named(sites, *question.site) : cross.value_or(0);
    const std::vector<std::int64_t>& layers = sites[head_.site].heads;
    require_layer(question, static_cast<std::int64_t>(layers.size()));
    head_.layer = question.layer ? static_cast<std::size_t>(*question.layer) : layers.size() - 1;
    require_below("head", question.head, layers[head_.layer]);
    head_.head = static_cast<std::size_t>(question.head.value_or(0));
  }

  /// mean_weight(layer, head) of one relation, over all heads of its layers.
  template <class MeanWeight>
  void consider(std::size_t site, const std::string& relation, std::size_t layers, const MeanWeight& mean_weight) {
    if (question_.site && site != *site_named(sites_, *question_.site)) return;
    for (std::size_t layer = 0; layer < layers; ++layer) {
      if (question_.layer && layer != static_cast<std::size_t>(*question_.layer)) continue;
      const auto heads = static_cast<std::size_t>(sites_[site].heads[layer]);
      for (std::size_t head = 0; head < heads; ++head) {
        if (question_.head && head != static_cast<std::size_t>(*question_.head)) continue;
        const double weight = mean_weight(layer, head);
        if (weight <= weight_) continue;
        weight_ = weight;
        relation_ = relation;
        head_ = {.site = site, .layer = layer, .head = head};
      }
    }
  }

  [[nodiscard]] const std::string& relation() const { return relation_; }
  [[nodiscard]] bool found() const { return !relation_.empty(); }

  [[nodiscard]] ChosenHead head(std::string_view where) const {
    ChosenHead chosen = head_;
    if (!found() || question_.head) return chosen;
    chosen.why = fmt::format("layer {}, head {} ({}) shows \"{}\" best: a mean weight of {:.2f} {}", chosen.layer,
                             chosen.head, sites_[chosen.site].name, relation_, weight_, where);
    return chosen;
  }

 private:
  const std::vector<HeadsOfSite>& sites_;
  const ModelQuestion& question_;
  ChosenHead head_;
  std::string relation_;
  double weight_ = -1;
};

void consider_text(const std::vector<TracedSite>& sites, Best& best) {
  for (std::size_t site = 0; site < sites.size(); ++site) {
    for (const SitePattern& relation : sites[site].shown.relations) {
      best.consider(site, relation.name, relation.layers.size(),
                    [&](std::size_t layer, std::size_t head) { return relation.layers[layer][head]; });
    }
  }
}

void consider_held_out(const TextModel& trained, const std::vector<HeadsOfSite>& sites, Best& best) {
  if (!trained.has_examples()) return;
  const Examples& examples = trained.examples();
  if (examples.relations().empty()) return;
  for (const RelationScores& scores : relation_scores(examples, trained.model(), kHeldOut)) {
    const std::optional<std::size_t> site = site_named(sites, name_of(scores.site));
    if (!site) continue;
    best.consider(*site, scores.relation, scores.layers.size(),
                  [&](std::size_t layer, std::size_t head) { return scores.layers[layer][head].mean_weight(); });
  }
}

std::string on_held_out() { return fmt::format("on {} held-out examples", kHeldOut); }

// Of a joined text, the head is shown over source and tokens together.
ChosenHead over_whole_text(const std::vector<TracedSite>& sites, ChosenHead chosen) {
  const auto whole = std::ranges::find(sites, true, &TracedSite::is_whole);
  if (whole != sites.end()) chosen.site = static_cast<std::size_t>(whole - sites.begin());
  return chosen;
}

}  // namespace

ChosenHead choose_head(const Ran& ran, const std::vector<TracedSite>& sites, const ModelQuestion& question) {
  const std::vector<HeadsOfSite> heads = heads_of(sites);
  Best best(heads, question);
  consider_text(sites, best);
  if (best.found()) {
    ChosenHead chosen = best.head("in this text");
    for (const SitePattern& relation : sites[chosen.site].shown.relations) {
      if (relation.name != best.relation()) continue;
      for (const PatternKeys& row : relation.rows) chosen.queries.push_back(row.query);
    }
    return over_whole_text(sites, std::move(chosen));
  }
  if (!question.head || !question.site) consider_held_out(ran.trained, heads, best);
  return over_whole_text(sites, best.head(on_held_out()));
}

ChosenHead choose_head(const TextModel& trained, const HeadsOfSite& site, const ModelQuestion& question) {
  const std::vector<HeadsOfSite> sites = {site};
  Best best(sites, question);
  if (!question.head) consider_held_out(trained, sites, best);
  return best.head(on_held_out());
}

}  // namespace qkv::explain_detail
