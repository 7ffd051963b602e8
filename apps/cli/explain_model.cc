#include "explain_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "misuse.h"
#include "qkv/files.h"
#include "qkv/nn/taps.h"
#include "qkv/png.h"
#include "qkv/train/picture_task.h"
#include "qkv/train/trained_model.h"

namespace qkv::cli {
namespace {

constexpr std::array<AttentionSite, 3> kSites = {AttentionSite::tokens, AttentionSite::source, AttentionSite::cross};

TaskExample image_example(const TrainedModel& trained, const std::string& path) {
  TaskExample example;
  example.image = image_of(decode_png(read_file(path), path), trained.task().lengths().image_side);
  example.tokens = {trained.task().vocabulary().token("<s>")};
  example.labels.resize(1);
  example.scored.resize(1);
  return example;
}

bool writes_an_answer(const TrainedModel& trained) {
  if (trained.kind() == ModelKind::two_tower) return false;
  return trained.task().vocabulary().find("</s>").has_value();
}

TaskExample asked_example(const TrainedModel& trained, const ModelQuestion& question) {
  if (question.example) {
    if (!trained.has_examples()) misuse("--example", "a text, for this model's examples are not here", "a number");
    return trained.task().example(Split::test, *question.example);
  }
  const bool reads_images = trained.task().lengths().image_side > 0;
  if (!question.text) misuse("TEXT", reads_images ? "a PNG file, or --example N" : "a text, or --example N", "none");
  TaskExample example = reads_images ? image_example(trained, *question.text)
                                     : of_option("TEXT", [&] { return trained.example_of(*question.text); });
  if (writes_an_answer(trained)) {
    const std::int64_t most = trained.task().lengths().tokens - static_cast<std::int64_t>(example.tokens.size());
    trained.answer(example, {.most = std::max<std::int64_t>(most, 0)});
  }
  return example;
}

std::vector<std::string> texts_of(const TaskVocabulary& vocabulary, const std::vector<std::int32_t>& tokens) {
  std::vector<std::string> texts;
  for (const std::int32_t token : tokens) {
    const std::string& text = vocabulary.text(token);
    texts.push_back(text == " " ? "␣" : text == "\n" ? "⏎" : text);
  }
  return texts;
}

std::vector<std::string> keys_of(const TrainedModel& trained, const TaskExample& example, AttentionSite site) {
  if (site == AttentionSite::tokens) return texts_of(trained.task().vocabulary(), example.tokens);
  if (example.image.empty()) return texts_of(trained.task().source_vocabulary(), example.source);
  std::vector<std::string> names;
  const std::int64_t across = trained.task().lengths().image_side / trained.task().lengths().patch_side;
  for (std::int64_t patch = 0; patch < trained.task().lengths().patches(); ++patch) {
    names.push_back(fmt::format("{},{}", patch / across, patch % across));
  }
  return names;
}

// How far each head shows each relation of the site in this example.
std::vector<ReadingRelation> relations_at(const TrainedModel& trained, const TaskExample& example, AttentionSite site,
                                          const std::vector<Tensor>& weights) {
  std::vector<ReadingRelation> all;
  const auto& relations = trained.task().relations();
  for (std::size_t n = 0; n < relations.size(); ++n) {
    const bool is_asked = n < example.patterns.size() && !example.patterns[n].empty();
    if (relations[n].site != site || !is_asked) continue;
    ReadingRelation relation{.name = relations[n].name, .description = relations[n].description, .layers = {}};
    for (const Tensor& layer : weights) {
      std::vector<double>& heads = relation.layers.emplace_back();
      for (const PatternScore& score : score_pattern(trained.task(), example, relations[n].name, layer)) {
        heads.push_back(score.mean_weight());
      }
    }
    all.push_back(std::move(relation));
  }
  return all;
}

class ModelReader {
 public:
  ModelReader(const ModelQuestion& question, TrainedModel trained)
      : question_(question),
        trained_(std::move(trained)),
        example_(asked_example(trained_, question)),
        batch_(trained_.batch_of(example_)),
        taps_({"*"}) {
    trained_.model().tap(batch_, taps_);
    reading_.tokens = texts_of(trained_.task().vocabulary(), example_.tokens);
    reading_.query = question.query;
  }

  Reading read() {
    describe();
    if (trained_.kind() != ModelKind::two_tower) add_answers();
    for (const AttentionSite site : kSites) add_site(site);
    choose_place();
    add_heads();
    return std::move(reading_);
  }

 private:
  void describe() {
    const auto& facts = trained_.facts().model;
    reading_.title = fmt::format("{}: {}", trained_.task().info().name, question_.model);
    for (const char* word : {"kind", "layers", "heads", "d_model", "positions"}) {
      const auto fact = facts.find(word);
      if (fact != facts.end()) reading_.settings.push_back({fmt::format("model {}", word), fact->second});
    }
    reading_.settings.push_back({"model parameters", fmt::format("{}", trained_.model().parameter_count())});
  }

  void add_answers() {
    reading_.probabilities = trained_.probabilities(example_);
    const TaskVocabulary& vocabulary = trained_.task().vocabulary();
    for (std::int32_t token = 0; token < vocabulary.size(); ++token)
      reading_.vocabulary.push_back(vocabulary.text(token));
    if (std::ranges::none_of(example_.labels, [](const auto& label) { return label.has_value(); })) return;
    for (std::size_t p = 0; p < example_.tokens.size(); ++p) {
      reading_.right.push_back(example_.scored[p] ? vocabulary.text(*example_.labels[p]) : "");
    }
  }

  // The part of a whole layer's tensor that belongs to the site: of a joined text, some rows and columns.
  Tensor weights_at(AttentionSite site, const SiteScope& scope, std::size_t layer) const {
    return Tensor(weights_of_example(batch_, 0, site, taps_[scope.name(layer, "weights")]));
  }

  // Queries across a joined text see all of its source.
  Mask mask_of(const SiteScope& scope, const std::string& site) const {
    const bool is_causal = trained_.kind() == ModelKind::decoder || scope.stack == "decoder.";
    return is_causal && scope.part == "attn" && site != name_of(AttentionSite::cross) ? causal() : Mask();
  }

  void add_site(AttentionSite site) {
    const std::optional<SiteScope> scope = trained_.model().scope_of(site);
    const bool is_joined = batch_.layout == BatchLayout::joined;
    if (!scope || (is_joined && example_.source.empty() && site != AttentionSite::tokens)) return;
    ReadingSite made{
        .name = std::string(name_of(site)), .queries = {}, .keys = keys_of(trained_, example_, site), .weights = {}};
    made.mask = mask_of(*scope, made.name);
    made.queries = site == AttentionSite::source ? made.keys : reading_.tokens;
    for (std::size_t layer = 0; layer < static_cast<std::size_t>(scope->layers); ++layer) {
      made.weights.push_back(weights_at(site, *scope, layer));
    }
    const TaskLengths& lengths = trained_.task().lengths();
    if (site == AttentionSite::cross && lengths.image_side > 0)
      made.key_columns = lengths.image_side / lengths.patch_side;
    made.relations = relations_at(trained_, example_, site, made.weights);
    reading_.sites.push_back(std::move(made));
    places_.push_back(site);
  }

  void choose_place() {
    double best = -1;
    reading_.layer = reading_.sites.front().weights.size() - 1;
    for (std::size_t n = 0; n < reading_.sites.size(); ++n) {
      if (question_.site && reading_.sites[n].name != *question_.site) continue;
      if (best < 0 && question_.site) reading_.site = n;
      for (const ReadingRelation& relation : reading_.sites[n].relations) consider(n, relation, best);
    }
    if (question_.site && reading_.sites[reading_.site].name != *question_.site) refuse_site();
    if (!question_.layer) return;
    const auto layers = static_cast<std::int64_t>(reading_.sites[reading_.site].weights.size());
    if (*question_.layer < 0 || *question_.layer >= layers) {
      misuse("--layer", fmt::format("0 to {}", layers - 1), fmt::format("{}", *question_.layer));
    }
    reading_.layer = static_cast<std::size_t>(*question_.layer);
  }

  void consider(std::size_t site, const ReadingRelation& relation, double& best) {
    for (std::size_t layer = 0; layer < relation.layers.size(); ++layer) {
      const auto most = std::ranges::max_element(relation.layers[layer]);
      if (*most <= best) continue;
      best = *most;
      reading_.head = static_cast<std::size_t>(most - relation.layers[layer].begin());
      reading_.site = site;
      reading_.layer = layer;
    }
  }

  [[noreturn]] void refuse_site() const {
    std::string names;
    for (const ReadingSite& site : reading_.sites) names += (names.empty() ? "" : ", ") + site.name;
    misuse("--site", "one of " + names, *question_.site);
  }

  // q, k and v of the layer, as its scores see them, with its mask and bias.
  void add_heads() {
    const SiteScope scope = *trained_.model().scope_of(places_[reading_.site]);
    const auto tap = [&](const char* leaf) -> const Tensor& { return taps_[scope.name(reading_.layer, leaf)]; };
    const auto has = [&](const char* leaf) { return taps_.contains(scope.name(reading_.layer, leaf)); };
    reading_.heads.q = Tensor(tap(has("q_rotated") ? "q_rotated" : "q").view().select(0, 0));
    reading_.heads.k = Tensor(tap(has("k_rotated") ? "k_rotated" : "k").view().select(0, 0));
    reading_.heads.v = Tensor(tap("v").view().select(0, 0));
    if (has("biased")) reading_.bias = added(tap("biased"), tap("scaled"));
    if (batch_.layout == BatchLayout::joined) show_whole_text();
  }

  static Bias added(const TensorView& biased, const TensorView& scaled) {
    std::vector<double> difference = biased.to_vector();
    const std::vector<double> before = scaled.to_vector();
    for (std::size_t n = 0; n < difference.size(); ++n) difference[n] -= before[n];
    return dense_bias(Tensor(difference, biased.shape()));
  }

  // The steps of a joined text show source and tokens together, as its heads do.
  void show_whole_text() {
    if (example_.source.empty()) return;
    const SiteScope scope = *trained_.model().scope_of(AttentionSite::tokens);
    ReadingSite whole{
        .name = "whole text", .queries = keys_of(trained_, example_, AttentionSite::source), .keys = {}, .weights = {}};
    whole.queries.insert(whole.queries.end(), reading_.tokens.begin(), reading_.tokens.end());
    whole.keys = whole.queries;
    whole.mask = causal();
    for (std::size_t layer = 0; layer < static_cast<std::size_t>(scope.layers); ++layer) {
      whole.weights.push_back(Tensor(taps_[scope.name(layer, "weights")].view().select(0, 0)));
    }
    reading_.site = reading_.sites.size();
    reading_.sites.push_back(std::move(whole));
  }

  const ModelQuestion& question_;
  TrainedModel trained_;
  TaskExample example_;
  TaskBatch batch_;
  Taps taps_;
  Reading reading_;
  std::vector<AttentionSite> places_;  // of reading_.sites
};

}  // namespace

Reading read_with_model(const ModelQuestion& question) {
  if (question.text && question.example) misuse("--example", "no text beside it", "one");
  return ModelReader(question, TrainedModel::read(trained_model_path(question.model))).read();
}

}  // namespace qkv::cli
