// What heads do, as data.
#include <string>

#include "qkv/api/roles.h"
#include "qkv/insight/texts.h"

namespace qkv {
namespace {

RolesHead shown_head(const SiteHeads& site, const HeadStatistics& head) {
  RolesHead shown;
  shown.site = name_of(site.site);
  shown.layer = head.layer;
  shown.head = head.head;
  shown.word = head.shown.word;
  shown.evidence = head.shown.evidence;
  shown.rows = head.rows;
  shown.entropy = head.entropy;
  shown.evenness = head.evenness;
  shown.distance = head.distance;
  for (const PatternShare& share : head.shares) {
    shown.shares.push_back(share.mean());
    shown.even.push_back(share.even());
    shown.share_rows.push_back(share.rows);
  }
  shown.induction = head.repeat_induction;
  shown.duplicate = head.repeat_duplicate;
  shown.similarity = head.similarity;
  shown.removal = head.removal;
  shown.gradient = head.gradient;
  shown.nearest = head.nearest;
  shown.nearest_distance = head.nearest_distance;
  return shown;
}

RolesTaskPattern shown_pattern(const PatternHead& one) {
  return {.pattern = one.pattern,
          .description = one.description,
          .site = std::string(name_of(one.site)),
          .layer = one.layer,
          .head = one.head,
          .weight = one.weight,
          .largest = one.largest};
}

}  // namespace

RolesReply roles_reply(const HeadAnalysis& analysis, const std::string& model, const std::string& texts) {
  RolesReply reply;
  reply.title = model;
  reply.texts = texts;
  reply.text_count = analysis.texts;
  reply.tokens = analysis.tokens;
  reply.loss = analysis.loss;
  reply.importance_texts = analysis.importance_texts;
  reply.masked_tokens = analysis.masked;
  reply.no_importance = analysis.no_importance;
  for (const TextPattern& pattern : text_patterns()) {
    reply.patterns.push_back({std::string(pattern.word), std::string(pattern.name)});
  }
  for (const SiteHeads& site : analysis.sites) {
    for (const HeadStatistics& head : site.all) reply.heads.push_back(shown_head(site, head));
    reply.sites.push_back({std::string(name_of(site.site)), site.layers, site.heads, site.distances});
  }
  for (const PatternHead& one : analysis.patterns) reply.task_patterns.push_back(shown_pattern(one));
  return reply;
}

}  // namespace qkv
