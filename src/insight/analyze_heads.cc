#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "insight/call_places.h"
#include "insight/importance.h"
#include "insight/likeness.h"
#include "insight/pattern_tally.h"
#include "insight/read_layers.h"
#include "insight/text_batch.h"
#include "model/require_finite.h"
#include "qkv/random.h"

namespace qkv {
namespace {

using insight::TextBatch;

struct MeasuredSite {
  SiteScope scope;
  AttentionSite site = AttentionSite::tokens;
  std::vector<LayerHeads> layers = {};  // made when the first weights say how many heads there are
};

std::vector<MeasuredSite> sites_to_measure(const Model& model, std::span<const HeadText> texts,
                                           const HeadOptions& options) {
  std::vector<MeasuredSite> sites;
  std::vector<insight::OwnSite> known = insight::sites_of(model);
  std::erase_if(known, [&](const auto& own) { return !insight::runs_site(model, texts.front(), own.site); });
  for (const insight::OwnSite& own : known) {
    const bool is_wanted = std::ranges::find(options.sites, own.site) != options.sites.end();
    if (is_wanted) sites.push_back({.scope = own.scope, .site = own.site});
  }
  if (sites.empty()) {
    std::string wanted;
    for (const AttentionSite site : options.sites) wanted += (wanted.empty() ? "" : ",") + std::string(name_of(site));
    throw InvalidArgument("analyze_heads", "sites", "one that the model has: " + insight::names_of_sites(known),
                          "\"" + wanted + "\"");
  }
  return sites;
}

// Between the embeddings of each text's tokens; none of cross-attention and of images.
std::vector<Tensor> token_cosines(const Trace& trace, const MeasuredSite& site, std::size_t texts) {
  const std::string name = site.scope.stack + "embedding";
  std::vector<Tensor> cosines;
  if (site.site == AttentionSite::cross || !trace.contains(name)) return cosines;
  const Tensor embeddings = trace[name];
  for (std::size_t b = 0; b < texts; ++b) {
    cosines.push_back(insight::cosines_between(embeddings.view().select(0, static_cast<std::int64_t>(b))));
  }
  return cosines;
}

// Of all heads of a text at a time: some rows of its weights.
constexpr std::int64_t kNumbersAtOnce = std::int64_t{1} << 22;

// [H, end - begin, Tk]
Tensor weights_of_rows(const Probe& probe, std::int64_t b, std::int64_t begin, std::int64_t end) {
  const MaskShape& shape = probe.shape();
  Tensor rows;
  for (std::int64_t h = 0; h < shape.H; ++h) {
    const Tensor tile = probe.tile({.b = b, .h = h, .i_begin = begin, .i_end = end, .j_end = shape.Tk});
    if (h == 0) rows = Tensor(tile.dtype(), {shape.H, end - begin, shape.Tk});
    const auto bytes = static_cast<std::size_t>(tile.size()) * size_of(tile.dtype());
    std::memcpy(static_cast<std::byte*>(rows.data()) + static_cast<std::size_t>(h) * bytes, tile.data(), bytes);
  }
  return rows;
}

// A pass over a batch, of which each layer is read when it has run.
class Measuring {
 public:
  // `texts` are all of them, whose patterns are tallied where there is a tally.
  Measuring(const TextBatch& batch, std::vector<MeasuredSite>& sites, std::span<const HeadText> texts,
            insight::PatternTally* tally)
      : batch_(batch), sites_(sites), texts_(texts), tally_(tally) {
    cosines_.resize(sites.size());
  }

  void run(const Model& model) {
    std::map<std::pair<std::string, std::size_t>, std::vector<std::size_t>> layers;  // by stack, its sites
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      const SiteScope& scope = sites_[s].scope;
      for (std::size_t layer = 0; layer < static_cast<std::size_t>(scope.layers); ++layer) {
        layers[{scope.stack, layer}].push_back(s);
      }
    }
    Trace trace(names());
    for (const auto& [place, sites] : layers) {
      insight::read_layer(trace, place.first, place.second, [this, &trace, layer = place.second, sites] {
        for (const std::size_t site : sites) add(trace, site, layer);
      });
    }
    model.run(batch_.input(), trace);
  }

 private:
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const MeasuredSite& site : sites_) {
      for (std::int64_t layer = 0; layer < site.scope.layers; ++layer) {
        names.push_back(site.scope.name(static_cast<std::size_t>(layer), "weights"));
      }
      if (site.site != AttentionSite::cross) names.push_back(site.scope.stack + "embedding");
    }
    return names;
  }

  void add(const Trace& trace, std::size_t s, std::size_t layer) {
    MeasuredSite& site = sites_[s];
    const std::string name = site.scope.name(layer);
    const Trace::Attention& call = trace.attention(name);
    const Probe probe = trace.probe(name);
    if (layer == 0) cosines_[s] = token_cosines(trace, site, batch_.texts.size());
    if (site.layers.size() <= layer) site.layers.emplace_back(probe.shape().H);
    const MaskShape& shape = probe.shape();
    const std::int64_t step = std::max<std::int64_t>(1, kNumbersAtOnce / std::max<std::int64_t>(1, shape.H * shape.Tk));
    for (std::size_t b = 0; b < batch_.texts.size(); ++b) {
      const auto at = static_cast<std::int64_t>(b);
      const PatternTokens tokens = insight::pattern_tokens(*batch_.texts[b], site.site, shape.Tq, shape.Tk);
      for (std::int64_t first = 0; first < shape.Tq; first += step) {
        const std::int64_t end = std::min(first + step, shape.Tq);
        const Tensor hidden = insight::hidden_places(call, at, first, end);
        const Tensor weights = weights_of_rows(probe, at, first, end);
        site.layers[layer].add_rows(first, weights, tokens, hidden.empty() ? TensorView() : hidden.view(),
                                    cosines_[s].empty() ? TensorView() : cosines_[s][b].view().slice(0, first, end));
        if (tally_ == nullptr) continue;
        tally_->add(static_cast<std::size_t>(batch_.texts[b] - texts_.data()), site.site, layer, first, weights);
      }
    }
  }

  const TextBatch& batch_;
  std::vector<MeasuredSite>& sites_;
  std::span<const HeadText> texts_;
  insight::PatternTally* tally_;
  std::vector<std::vector<Tensor>> cosines_;  // of each site: [T, T] a text, or none
};

void measure_all(const Model& model, std::span<const HeadText> texts, const HeadOptions& options,
                 std::vector<MeasuredSite>& sites, insight::PatternTally* tally) {
  constexpr std::int64_t kHeads = 16;  // as many as weights are usually kept of
  std::size_t done = 0;
  for (const TextBatch& batch : insight::batches_of(texts, kHeads)) {
    Measuring(batch, sites, texts, tally).run(model);
    done += batch.texts.size();
    if (!options.doing) continue;
    options.doing(fmt::format("{} of {} texts", done, texts.size()), static_cast<std::int64_t>(done),
                  std::ssize(texts));
  }
}

std::vector<HeadText> repeated_texts(const RepeatedTokens& repeats) {
  Generator generator(repeats.seed);
  std::vector<HeadText> texts;
  for (std::int64_t n = 0; n < repeats.count; ++n) {
    const Tensor drawn = generator.randint(0, static_cast<std::int64_t>(repeats.tokens.size()), {repeats.half});
    HeadText text;
    if (repeats.begin) text.ids.push_back(*repeats.begin);
    for (int time = 0; time < 2; ++time) {
      for (const std::int64_t at : drawn.values<std::int64_t>()) {
        text.ids.push_back(repeats.tokens[static_cast<std::size_t>(at)]);
      }
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

void add_repeats(const Model& model, const HeadOptions& options, HeadAnalysis& analysis) {
  if (options.repeats.tokens.empty() || !model.traits().goes_on) return;
  const std::vector<HeadText> texts = repeated_texts(options.repeats);
  std::vector<MeasuredSite> sites = sites_to_measure(model, texts, options);
  measure_all(model, texts, {}, sites, nullptr);
  const std::size_t induction = text_pattern_named("induction");
  const std::size_t duplicate = text_pattern_named("duplicate");
  for (std::size_t s = 0; s < sites.size(); ++s) {
    auto to = analysis.sites[s].all.begin();
    for (const LayerHeads& layer : sites[s].layers) {
      for (const HeadStatistics& head : layer.statistics()) {
        to->repeat_induction = head.shares[induction].mean();
        to->repeat_duplicate = head.shares[duplicate].mean();
        ++to;
      }
    }
  }
}

void require_weights(const Model& model, const SiteHeads& site) {
  for (const HeadStatistics& head : site.all) {
    require_numbers(model, "analyze_heads", fmt::format("the weights of head {}.{}", head.layer, head.head),
                    std::array{head.entropy});
  }
}

SiteHeads heads_of(const MeasuredSite& measured) {
  SiteHeads site{.site = measured.site, .layers = measured.scope.layers};
  for (std::size_t layer = 0; layer < measured.layers.size(); ++layer) {
    std::vector<HeadStatistics> heads = measured.layers[layer].statistics();
    for (HeadStatistics& head : heads) head.layer = static_cast<std::int64_t>(layer);
    site.heads = static_cast<std::int64_t>(heads.size());
    site.all.insert(site.all.end(), heads.begin(), heads.end());
    site.distances.push_back(measured.layers[layer].distances());
  }
  return site;
}

}  // namespace

HeadAnalysis analyze_heads(const Model& model, std::span<const HeadText> texts, const HeadOptions& options) {
  if (texts.empty()) throw InvalidArgument("analyze_heads", "texts", "one or more", "none");
  std::vector<MeasuredSite> sites = sites_to_measure(model, texts, options);
  const TaskPatterns& patterns = options.patterns;
  if (!patterns.relations.empty() && patterns.texts.size() != texts.size()) {
    throw InvalidArgument("analyze_heads", "patterns", fmt::format("those of {} texts", texts.size()),
                          fmt::format("of {}", patterns.texts.size()));
  }
  insight::PatternTally tally(model, patterns);
  measure_all(model, texts, options, sites, &tally);
  HeadAnalysis analysis{.texts = static_cast<std::int64_t>(texts.size())};
  analysis.patterns = tally.heads();
  for (const HeadText& text : texts) analysis.tokens += static_cast<std::int64_t>(text.ids.size() + text.source.size());
  for (const MeasuredSite& site : sites) {
    analysis.sites.push_back(heads_of(site));
    require_weights(model, analysis.sites.back());
  }
  add_repeats(model, options, analysis);
  insight::add_importance(model, texts, options, analysis);
  for (SiteHeads& site : analysis.sites) {
    for (HeadStatistics& head : site.all) head.shown = class_of(head);
  }
  return analysis;
}

}  // namespace qkv
