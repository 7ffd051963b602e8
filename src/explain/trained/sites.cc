#include "explain/trained/sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "insight/asked_text.h"
#include "qkv/model/relation_scores.h"

namespace qkv::explain_detail {
namespace {

constexpr std::array kSites = {AttentionSite::tokens, AttentionSite::source, AttentionSite::cross};

constexpr std::string_view kClassToken = "[class]";  // of what puts a vector before its patches

// What stands before the patches.
std::vector<std::string> names_before(const TextModel& trained) {
  const NetworkParts parts = trained.model().parts();
  if (parts.image_encoder != nullptr) {
    const PatchEncoderOptions& options = parts.image_encoder->options().patches;
    std::vector<std::string> names = {std::string(kClassToken)};
    if (options.distilled) names.emplace_back("[distillation]");
    for (std::int64_t n = 0; n < options.registers; ++n) names.push_back(fmt::format("[register {}]", n));
    return names;
  }
  const TwoTower* towers = parts.towers;
  const bool has_class = towers != nullptr && towers->options().image_pooling == ImagePooling::class_token;
  return has_class ? std::vector<std::string>{std::string(kClassToken)} : std::vector<std::string>();
}

// Of the image, which need not have the sides of those that the model learned from.
std::int64_t patches_across(const Ran& ran) { return ran.example.image.dim(2) / ran.trained.lengths().patch_side; }

std::vector<std::string> patch_names(const Ran& ran) {
  std::vector<std::string> names = names_before(ran.trained);
  const std::int64_t across = patches_across(ran);
  for (std::int64_t patch = 0; patch < ran.batch.patches; ++patch) {
    names.push_back(fmt::format("{},{}", patch / across, patch % across));
  }
  return names;
}

std::vector<std::string> keys_of(const Ran& ran, AttentionSite site) {
  if (site == AttentionSite::tokens) return texts_of(ran.trained.tokenizer(), ran.example.tokens);
  if (!ran.example.image.empty()) return patch_names(ran);
  if (!ran.example.sound.empty()) return insight::times_of(ran.trained);
  return texts_of(ran.trained.source_tokenizer(), ran.example.source);
}

std::vector<TokenRole> roles_at(const Ran& ran, AttentionSite site) {
  const auto roles = [&](const std::vector<std::int32_t>& ids, const Tokenizer& tokenizer) {
    return insight::roles_of(ran.trained, {ids.begin(), ids.end()}, tokenizer);
  };
  if (site == AttentionSite::tokens) return roles(ran.example.tokens, ran.trained.tokenizer());
  if (!ran.example.image.empty() || !ran.example.sound.empty()) return {};
  return roles(ran.example.source, ran.trained.source_tokenizer());
}

// How far each head shows each relation of the site in this example.
std::vector<SitePattern> relations_at(const Ran& ran, AttentionSite site, const std::vector<Tensor>& weights) {
  std::vector<SitePattern> all;
  if (!ran.trained.has_examples()) return all;
  const Examples& examples = ran.trained.examples();
  const std::vector<Relation>& relations = examples.relations();
  for (std::size_t n = 0; n < relations.size(); ++n) {
    const bool is_asked = n < ran.example.patterns.size() && !ran.example.patterns[n].empty();
    if (relations[n].site != site || !is_asked) continue;
    SitePattern relation{.name = relations[n].name, .description = relations[n].description, .layers = {}};
    for (const PatternRow& row : ran.example.patterns[n]) {
      relation.rows.push_back({static_cast<std::size_t>(row.query), {row.keys.begin(), row.keys.end()}});
    }
    for (const Tensor& layer : weights) {
      std::vector<double>& heads = relation.layers.emplace_back();
      for (const PatternScore& score : score_pattern(examples, ran.example, relations[n].name, layer)) {
        heads.push_back(score.mean_weight());
      }
    }
    all.push_back(std::move(relation));
  }
  return all;
}

// True where the mask of the call hides, [1, 1, Tq, Tk]; empty where it hides nothing.
Tensor hidden_of(const Trace::Attention& call) {
  const Mask& mask = call.options.mask;
  if (mask.is_all()) return {};
  const MaskShape shape{1, call.q.dim(1), call.q.dim(2), call.k.dim(2)};
  Tensor hidden(DType::b8, {1, 1, shape.Tq, shape.Tk});
  const auto values = hidden.values<bool>();
  std::size_t cell = 0;
  for (std::int64_t q = 0; q < shape.Tq; ++q) {
    for (std::int64_t k = 0; k < shape.Tk; ++k) values[cell++] = !mask.allows(Place{.i = q, .j = k}, shape);
  }
  return hidden;
}

bool hides_any(const Tensor& hidden) {
  const auto values = hidden.values<bool>();
  return std::ranges::find(values, true) != values.end();
}

TracedSite traced_site(const Ran& ran, const SiteScope& scope, AttentionSite site) {
  TracedSite made{.scope = scope, .shown = {}};
  SiteWeights& shown = made.shown;
  shown.name = name_of(site);
  shown.keys = keys_of(ran, site);
  shown.roles = roles_at(ran, site);
  shown.queries = site == AttentionSite::source ? shown.keys : keys_of(ran, AttentionSite::tokens);
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(scope.layers); ++layer) {
    shown.weights.emplace_back(weights_of_example(ran.batch, 0, site, ran.trace[scope.name(layer, "weights")]));
  }
  // The part of a whole layer's mask that belongs to the site: of a joined text, some rows and columns.
  const Tensor hidden = hidden_of(ran.trace.attention(scope.name(0)));
  if (!hidden.empty()) {
    Tensor part(weights_of_example(ran.batch, 0, site, hidden).select(0, 0));
    if (hides_any(part)) shown.hidden = std::move(part);
  }
  if (site != AttentionSite::tokens && !ran.example.image.empty()) {
    shown.key_columns = patches_across(ran);
    shown.places_from = std::ssize(names_before(ran.trained));
  }
  shown.relations = relations_at(ran, site, shown.weights);
  return made;
}

// The steps of a joined text show source and tokens together, as its heads do.
TracedSite whole_text(const Ran& ran, const SiteScope& scope) {
  TracedSite whole{.scope = scope, .shown = {}, .is_whole = true};
  SiteWeights& shown = whole.shown;
  shown.name = "whole text";
  shown.queries = keys_of(ran, AttentionSite::source);
  const std::vector<std::string> tokens = keys_of(ran, AttentionSite::tokens);
  shown.queries.insert(shown.queries.end(), tokens.begin(), tokens.end());
  shown.keys = shown.queries;
  shown.roles = roles_at(ran, AttentionSite::source);
  const std::vector<TokenRole> own_roles = roles_at(ran, AttentionSite::tokens);
  shown.roles.insert(shown.roles.end(), own_roles.begin(), own_roles.end());
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(scope.layers); ++layer) {
    shown.weights.emplace_back(ran.trace[scope.name(layer, "weights")].view().select(0, 0));
  }
  const Tensor hidden = hidden_of(ran.trace.attention(scope.name(0)));
  if (!hidden.empty()) shown.hidden = Tensor(hidden.view().select(0, 0).select(0, 0));
  return whole;
}

}  // namespace

std::vector<std::string> texts_of(const Tokenizer& vocabulary, const std::vector<std::int32_t>& tokens) {
  std::vector<std::string> texts;
  for (const std::int32_t token : tokens) texts.push_back(shown_token(vocabulary, token));
  return texts;
}

std::vector<TracedSite> sites_of(const Ran& ran) {
  std::vector<TracedSite> sites;
  const bool is_joined = ran.batch.layout == BatchLayout::joined;
  for (const AttentionSite site : kSites) {
    const std::optional<SiteScope> scope = ran.trained.model().scope_of(site);
    if (!scope || (is_joined && ran.example.source.empty() && site != AttentionSite::tokens)) continue;
    if (!ran.trace.contains(scope->name(0, "weights"))) continue;  // of two towers the one that read nothing
    sites.push_back(traced_site(ran, *scope, site));
  }
  if (is_joined && !ran.example.source.empty()) {
    sites.push_back(whole_text(ran, *ran.trained.model().scope_of(AttentionSite::tokens)));
  }
  return sites;
}

LayerCall call_of(const Trace& trace, const TracedSite& site, std::size_t layer) {
  const Trace::Attention& call = trace.attention(site.scope.name(layer));
  return {.q = Tensor(call.q.value()),
          .k = Tensor(call.k.value()),
          .v = Tensor(call.v.value()),
          .out = Tensor(call.out.value()),
          .options = call.options,
          .is_rotated = trace.contains(site.scope.name(layer, "q_rotated"))};
}

}  // namespace qkv::explain_detail
