#include "insight/text_batch.h"
#include "qkv/insight/texts.h"
#include "qkv/model/relation_scores.h"

namespace qkv {

std::vector<PatternHead> pattern_heads(const TextModel& trained, std::int64_t count) {
  std::vector<PatternHead> all;
  if (!trained.has_examples()) return all;
  const Examples& examples = trained.examples();
  const std::vector<RelationScores> scores = relation_scores(examples, trained.model(), count);
  for (std::size_t n = 0; n < scores.size(); ++n) {
    if (scores[n].layers.empty()) continue;
    const BestHead best = best_head(scores[n]);
    all.push_back({.pattern = examples.relations()[n].name,
                   .description = examples.relations()[n].description,
                   .site = insight::own_site(trained.model(), scores[n].site),
                   .layer = static_cast<std::int64_t>(best.layer),
                   .head = static_cast<std::int64_t>(best.head),
                   .weight = best.score.mean_weight(),
                   .largest = best.score.accuracy()});
  }
  return all;
}

}  // namespace qkv
