#include "api/heads/head_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/fields/refuse.h"
#include "api/heads/head_weights.h"
#include "core/numbered.h"
#include "insight/call_places.h"

namespace qkv::api_detail {

ShownText shown_text_of(const HeadsRequest& request) {
  return {.model = request.model,
          .text = request.text,
          .second = request.second,
          .example = request.example,
          .picture = request.picture,
          .sound = request.sound,
          .talk = request.talk};
}

ShownText shown_text_of(const HeadRequest& request) {
  ShownText shown = shown_text_of(static_cast<const HeadsRequest&>(request));
  shown.changes = request.changes;
  shown.from_text = request.from_text;
  return shown;
}

void require_short(const RunSite& site) {
  const std::int64_t most = site.site == AttentionSite::tokens ? kWholeHead : kWholeSound;
  if (std::ssize(site.queries) <= most && std::ssize(site.keys) <= most) return;
  refuse("text", fmt::format("at most {} tokens; longer texts are for the page Far", most),
         std::to_string(std::max(site.queries.size(), site.keys.size())));
}

void require_head(const ModelRun& run, const RunSite& site, const HeadRequest& request) {
  const std::int64_t heads = run.call(site, request.layer).q.value().dim(1);
  if (request.head >= heads) {
    refuse("head", core::numbered("head", heads), std::to_string(request.head));
  }
}

HeadsClass class_shown(const HeadStatistics& head, std::int64_t layer) {
  return {.layer = layer,
          .head = head.head,
          .word = head.shown.word,
          .evidence = head.shown.evidence,
          .evenness = head.evenness};
}

std::vector<HeadStatistics> statistics_of(const ModelRun& run, const RunSite& site, std::int64_t layer,
                                          const Tensor& weights) {
  LayerHeads heads(weights.dim(0));
  const Tensor hidden = insight::hidden_places(run.call(site, layer), 0);
  heads.add(weights, insight::pattern_tokens(run.text(), site.site, weights.dim(1), weights.dim(2)),
            hidden.empty() ? TensorView() : hidden.view());
  std::vector<HeadStatistics> all = heads.statistics();
  for (HeadStatistics& head : all) head.shown = class_of(head);
  return all;
}

void put_words(const ModelRun& run, const RunSite& site, const HeadRequest& request, const Tensor& weights,
               HeadWords& words) {
  words.title = fmt::format("{}, {} {}.{}", request.model, name_of(site.site), request.layer, request.head);
  words.queries = site.queries;
  words.keys = site.keys;
  words.roles = roles_of_keys(run, site);
  words.second_from = run.second_from();
  const Tensor own(weights.view().slice(0, request.head, request.head + 1));
  HeadStatistics head = statistics_of(run, site, request.layer, own).front();
  head.head = request.head;
  words.shown = class_shown(head, request.layer);
  for (std::size_t n = 0; n < head.shares.size(); ++n) {
    const TextPattern& pattern = text_patterns()[n];
    if (head.shares[n].rows == 0) continue;
    words.patterns.push_back(
        {std::string(pattern.word), std::string(pattern.name), head.shares[n].mean(), head.shares[n].rows});
  }
}

}  // namespace qkv::api_detail
