#include "insight/pattern_tally.h"

#include <array>
#include <span>

#include "insight/text_batch.h"

namespace qkv::insight {
namespace {

// Where the places of an example stand in a matrix that has its source's before its own.
struct Offsets {
  std::int64_t query = 0;
  std::int64_t begin = 0, end = 0;  // of the keys
};

Offsets offsets_of(AttentionSite site, std::int64_t before, std::int64_t keys) {
  if (before == 0) return {.end = keys};
  if (site == AttentionSite::tokens) return {.query = before, .begin = before, .end = keys};
  return {.query = site == AttentionSite::cross ? before : 0, .end = before};
}

}  // namespace

PatternTally::PatternTally(const Model& model, const TaskPatterns& patterns) : patterns_(patterns) {
  for (const Relation& relation : patterns.relations) {
    own_.push_back(own_site(model, relation.site));
    scores_.push_back({.relation = relation.name, .site = relation.site, .layers = {}});
  }
}

void PatternTally::add(std::size_t text, AttentionSite site, std::size_t layer, std::int64_t first,
                       const TensorView& weights) {
  std::vector<double> row(static_cast<std::size_t>(weights.dim(2)));
  for (std::size_t n = 0; n < scores_.size(); ++n) {
    if (own_[n] != site) continue;
    std::vector<std::vector<PatternScore>>& layers = scores_[n].layers;
    if (layers.size() <= layer) {
      layers.resize(layer + 1, std::vector<PatternScore>(static_cast<std::size_t>(weights.dim(0))));
    }
    const TaskPatterns::OfText& own = patterns_.texts[text];
    if (n >= own.rows.size()) continue;
    const Offsets at = offsets_of(scores_[n].site, own.before, weights.dim(2));
    for (const PatternRow& pattern : own.rows[n]) {
      const std::int64_t query = pattern.query + at.query - first;
      if (query < 0 || query >= weights.dim(1)) continue;
      for (std::size_t head = 0; head < layers[layer].size(); ++head) {
        weights.load_row(std::array{static_cast<std::int64_t>(head), query}, row);
        layers[layer][head].add(pattern, std::span(row).subspan(static_cast<std::size_t>(at.begin),
                                                                static_cast<std::size_t>(at.end - at.begin)));
      }
    }
  }
}

std::vector<PatternHead> PatternTally::heads() const {
  std::vector<PatternHead> all;
  for (std::size_t n = 0; n < scores_.size(); ++n) {
    if (scores_[n].layers.empty()) continue;
    const BestHead best = best_head(scores_[n]);
    all.push_back({.pattern = scores_[n].relation,
                   .description = patterns_.relations[n].description,
                   .site = own_[n],
                   .layer = static_cast<std::int64_t>(best.layer),
                   .head = static_cast<std::int64_t>(best.head),
                   .weight = best.score.mean_weight(),
                   .largest = best.score.accuracy()});
  }
  return all;
}

}  // namespace qkv::insight
